/* The digest of a chunk: sixteen SHA-256s in parallel. The n-th is that of every sixteenth 64
 * bytes, from the n-th on, and the chunk's is the SHA-256 of the sixteen.
 *
 * A single message is limited by its rounds, each of which waits for the one before: less than
 * half as fast as copying. The widest registers hold a word of each message. */
#include "move.h"

#include <immintrin.h>
#include <string.h>

#define WIDE __attribute__((target("avx512f,avx512bw")))
#define TURN(x, n) ((words)_mm512_ror_epi32((__m512i)(x), n))
#define MIX(x, y, z, how) \
  ((words)_mm512_ternarylogic_epi32((__m512i)(x), (__m512i)(y), (__m512i)(z), how))
/* Unrolled; otherwise the arrays are kept in memory instead of in registers, which is a tenth
 * slower. */
#define ALL _Pragma("GCC unroll 64")
enum { XOR = 0x96, CHOICE = 0xca, MAJORITY = 0xe8 };

/* A word of each message. */
typedef uint32_t words __attribute__((vector_size(64)));

/* Transposes sixteen words of each message into vectors of one word of all sixteen. */
WIDE static inline void transpose(__m512i r[16]) {
  __m512i t[16];
  ALL for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  ALL for (int i = 0; i < 16; i += 4)
    ALL for (int j = 0; j < 2; j++) {
      r[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + j + 2]);
      r[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + j + 2]);
    }
  ALL for (int i = 0; i < 16; i += 8)
    ALL for (int j = 0; j < 4; j++) {
      t[i + j] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0x88);
      t[i + j + 4] = _mm512_shuffle_i32x4(r[i + j], r[i + j + 4], 0xdd);
    }
  ALL for (int i = 0; i < 8; i++) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
  }
}

WIDE static void take_wide(struct lanes *l, const uint8_t *p, size_t rows) {
  const __m512i swap = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
  const uint32_t *k = sha256_k;
  words s[8];
  memcpy(s, l->state, sizeof s);
  words a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (; rows; rows--, p += LANES * 64) {
    __m512i m[16];
    ALL for (int i = 0; i < 16; i++) m[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(p + 64 * i), swap);
    transpose(m);
    words w[16];
    ALL for (int i = 0; i < 16; i++) w[i] = (words)m[i];
    ALL for (int i = 0; i < 64; i++) {
      if (i >= 16) {
        words x = w[(i + 1) & 15], y = w[(i + 14) & 15];
        w[i & 15] += MIX(TURN(x, 7), TURN(x, 18), x >> 3, XOR) + w[(i + 9) & 15]
            + MIX(TURN(y, 17), TURN(y, 19), y >> 10, XOR);
      }
      words one = h + k[i] + w[i & 15] + MIX(e, f, g, CHOICE) + MIX(TURN(e, 6), TURN(e, 11), TURN(e, 25), XOR);
      words two = MIX(a, b, c, MAJORITY) + MIX(TURN(a, 2), TURN(a, 13), TURN(a, 22), XOR);
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    s[0] = a += s[0], s[1] = b += s[1], s[2] = c += s[2], s[3] = d += s[3];
    s[4] = e += s[4], s[5] = f += s[5], s[6] = g += s[6], s[7] = h += s[7];
  }
  memcpy(l->state, s, sizeof s);
}

static struct sha256 lane(const struct lanes *l, int n) {
  struct sha256 sum = {.length = l->length / LANES};
  for (int i = 0; i < 8; i++) sum.state[i] = l->state[i][n];
  return sum;
}

/* Two messages after the other two, 16 KiB at a time, which stays in the first-level cache. */
static void take_narrow(struct lanes *l, const uint8_t *p, size_t rows) {
  for (size_t some; rows; rows -= some, p += some * LANES * 64) {
    some = rows < 16 ? rows : 16;
    for (int n = 0; n < LANES; n += 2) {
      struct sha256 one = lane(l, n), other = lane(l, n + 1);
      sha256_pair((uint32_t *[]){one.state, other.state}, (const uint8_t *[]){p + 64 * n, p + 64 * n + 64},
          some, LANES * 64);
      for (int i = 0; i < 8; i++) l->state[i][n] = one.state[i], l->state[i][n + 1] = other.state[i];
    }
  }
}

static bool has_wide(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

void lanes_begin(struct lanes *l) {
  struct sha256 first;
  sha256_begin(&first);
  for (int i = 0; i < 8; i++)
    for (int n = 0; n < LANES; n++) l->state[i][n] = first.state[i];
  l->length = 0;
}

void lanes_rows(struct lanes *l, const void *data, size_t length) {
  (has_wide() ? take_wide : take_narrow)(l, data, length / (LANES * 64));
  l->length += length;
}

void lanes_end(const struct lanes *l, uint8_t digest[32]) {
  uint8_t all[LANES][32];
  for (int n = 0; n < LANES; n++) {
    struct sha256 sum = lane(l, n);
    sha256_end(&sum, NULL, 0, all[n]);
  }
  sha256(all, sizeof all, digest);
}
