/* The digests, with and without the processor's instructions, against known values. */
#include "../src/digest.c"
#include "../src/lanes.c"
#include "by_hand.h"

#include <stdio.h>
#include <stdlib.h>

static int failed;
static void check(bool good, const char *promise) {
  printf("%s %s\n", good ? "ok  " : "FAIL", promise);
  failed |= !good;
}

static bool sha_text(const uint8_t d[32], const char *wanted) {
  char text[65];
  for (int i = 0; i < 32; i++) sprintf(text + 2 * i, "%02x", d[i]);
  return !strcmp(text, wanted);
}

static bool sha_is(const void *data, size_t n, const char *wanted) {
  uint8_t d[32];
  sha256(data, n, d);
  return sha_text(d, wanted);
}

static bool lanes_are_right(const uint8_t *data, size_t n, size_t step,
    void (*take)(struct lanes *, const uint8_t *, size_t)) {
  uint8_t found[32], wanted[32];
  struct lanes sum;
  lanes_begin(&sum);
  for (size_t at = 0; at < n; at += step, sum.length += step) take(&sum, data + at, step / 1024);
  lanes_end(&sum, found);
  lanes_by_hand(data, n, wanted);
  return !memcmp(found, wanted, 32);
}

int main(void) {
  static uint8_t data[1 << 20];
  uint32_t x = 1;
  check(crc32c(0, "123456789", 9) == 0xe3069283, "crc32c_of_the_check_string_is_e3069283");
  check(crc32c(0, data, 32) == 0x8a9136aa, "crc32c_of_32_zeros_is_8a9136aa");
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
  bool same = true;
  for (size_t n = 0; n < 6000 && same; n += 1 + n / 7)
    for (size_t at = 0; at < 9; at++) same &= crc_fast(~0u, data + at, n) == crc_plain(~0u, data + at, n);
  same &= crc_fast(~0u, data, sizeof data) == crc_plain(~0u, data, sizeof data);
  check(same, "both_ways_to_crc32c_agree_at_every_length");
  check(crc32c(crc32c(0, data, 300000), data + 300000, 500000) == crc32c(0, data, 800000),
      "crc32c_goes_on_where_it_stopped");
  check(sha_is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      "sha256_of_nothing");
  check(sha_is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      "sha256_of_abc");
  check(sha_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"), "sha256_of_two_blocks");
  uint8_t whole[32], pieces[32];
  struct sha256 sum;
  sha256(data, 300000, whole);
  sha256_begin(&sum);
  for (size_t at = 0; at < 256000; at += 64000) sha256_blocks(&sum, data + at, 64000);
  sha256_end(&sum, data + 256000, 44000, pieces);
  check(!memcmp(whole, pieces, 32), "sha256_in_pieces_is_the_same");
  uint32_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8];
  memcpy(b, a, sizeof a);
  if (has_sha()) sha_fast(a, data, 1000);
  else sha_plain(a, data, 1000, 64);
  sha_plain(b, data, 1000, 64);
  check(!memcmp(a, b, sizeof a), "both_ways_to_sha256_agree");
  uint32_t two[2][8] = {{1, 2, 3}, {4, 5, 6}}, each[2][8];
  memcpy(each, two, sizeof two);
  sha256_pair((uint32_t *[]){two[0], two[1]}, (const uint8_t *[]){data, data + 64}, 500, 1024);
  for (int i = 0; i < 2; i++) sha_plain(each[i], data + 64 * i, 500, 1024);
  check(!memcmp(two, each, sizeof two), "two_at_a_time_are_what_each_is_alone");
  check(lanes_are_right(data, 1 << 20, 1 << 18, take_narrow), "sixteen_lanes_two_by_two");
  check(lanes_are_right(data + 1, 77 * 4096, 4096, take_narrow), "sixteen_lanes_in_small_pieces");
  check(lanes_are_right(data, 1024, 1024, take_narrow), "sixteen_lanes_of_one_block_each");
  if (has_wide()) {
    check(lanes_are_right(data, 1 << 20, 1 << 18, take_wide), "sixteen_lanes_side_by_side");
    check(lanes_are_right(data + 1, 77 * 4096, 4096, take_wide), "side_by_side_in_small_pieces");
    check(lanes_are_right(data, 1024, 1024, take_wide), "side_by_side_of_one_block_each");
  } else {
    puts("     this processor has no AVX-512: sixteen lanes side by side were not tried");
  }
  struct lanes lanes;
  uint8_t known[32];
  lanes_begin(&lanes);
  lanes_rows(&lanes, data, 1 << 20);
  lanes_end(&lanes, known);
  check(sha_text(known, "2150b81c684609f9b5ad671a06075f5298fb582baf474dec309f1d53b399a894"), "a_chunk_s_digest_stays_what_it_is");
  return failed;
}
