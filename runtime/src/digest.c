/* CRC32C (Castagnoli) and SHA-256, with the processor's instructions if available. */
#include "move.h"

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u

/* a * b modulo the polynomial, bit-reflected. */
static uint32_t times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
  }
  return product;
}

/* The factor by which n zero bytes multiply a checksum: x^(8n). */
static uint32_t shift_of(size_t n) {
  static _Thread_local size_t last;
  static _Thread_local uint32_t power;
  if (n == last) return power;
  last = n;
  power = 1u << 31;
  for (uint32_t x = 1u << 23; n; n >>= 1, x = times(x, x))
    if (n & 1) power = times(power, x);
  return power;
}

static uint64_t word(const uint8_t *p) {
  uint64_t w;
  memcpy(&w, p, 8);
  return w;
}

/* Three lanes at once: the instruction has a latency of three cycles, but can start every cycle. */
__attribute__((target("sse4.2")))
static uint32_t crc_fast(uint32_t crc, const uint8_t *p, size_t n) {
  size_t lane = n / 24 * 8;
  if (lane >= 1024) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < lane; i += 8) {
      a = _mm_crc32_u64(a, word(p + i));
      b = _mm_crc32_u64(b, word(p + lane + i));
      c = _mm_crc32_u64(c, word(p + 2 * lane + i));
    }
    uint32_t shift = shift_of(lane);
    crc = times(shift, times(shift, (uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
    p += 3 * lane;
    n -= 3 * lane;
  }
  for (; n >= 8; p += 8, n -= 8) crc = (uint32_t)_mm_crc32_u64(crc, word(p));
  for (; n; n--) crc = _mm_crc32_u8(crc, *p++);
  return crc;
}

static uint32_t crc_plain(uint32_t crc, const uint8_t *p, size_t n) {
  for (; n; n--) {
    crc ^= *p++;
    for (int i = 0; i < 8; i++) crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
  }
  return crc;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t length) {
  return ~(__builtin_cpu_supports("sse4.2") ? crc_fast : crc_plain)(~crc, data, length);
}

const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* One message, or two interleaved: each instruction of one mostly waits for the one before. */
SHA_TARGET __attribute__((always_inline))
static inline void sha_rounds(uint32_t *const s[], const uint8_t *const from[], int n, size_t blocks,
    size_t stride) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i x[2], y[2], x0[2], y0[2], w[2][4], t;
#pragma GCC unroll 2
  for (int m = 0; m < n; m++) {
    t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)s[m]), 0xb1);
    y[m] = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(s[m] + 4)), 0x1b);
    x[m] = _mm_alignr_epi8(t, y[m], 8);
    y[m] = _mm_blend_epi16(y[m], t, 0xf0);
  }
  for (size_t at = 0; blocks; blocks--, at += stride) {
#pragma GCC unroll 2
    for (int m = 0; m < n; m++) x0[m] = x[m], y0[m] = y[m];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
#pragma GCC unroll 2
      for (int m = 0; m < n; m++) {
        __m128i *v = w[m];
        if (i < 4) {
          v[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from[m] + at + 16 * i)), swap);
        } else {
          t = _mm_add_epi32(_mm_sha256msg1_epu32(v[i & 3], v[(i + 1) & 3]),
              _mm_alignr_epi8(v[(i + 3) & 3], v[(i + 2) & 3], 4));
          v[i & 3] = _mm_sha256msg2_epu32(t, v[(i + 3) & 3]);
        }
        t = _mm_add_epi32(v[i & 3], _mm_loadu_si128((const __m128i *)(sha256_k + 4 * i)));
        y[m] = _mm_sha256rnds2_epu32(y[m], x[m], t);
        x[m] = _mm_sha256rnds2_epu32(x[m], y[m], _mm_shuffle_epi32(t, 0x0e));
      }
    }
#pragma GCC unroll 2
    for (int m = 0; m < n; m++) x[m] = _mm_add_epi32(x[m], x0[m]), y[m] = _mm_add_epi32(y[m], y0[m]);
  }
#pragma GCC unroll 2
  for (int m = 0; m < n; m++) {
    t = _mm_shuffle_epi32(x[m], 0x1b);
    y[m] = _mm_shuffle_epi32(y[m], 0xb1);
    _mm_storeu_si128((__m128i *)s[m], _mm_blend_epi16(t, y[m], 0xf0));
    _mm_storeu_si128((__m128i *)(s[m] + 4), _mm_alignr_epi8(y[m], t, 8));
  }
}

SHA_TARGET static void sha_fast(uint32_t s[8], const uint8_t *p, size_t blocks) {
  sha_rounds(&s, &p, 1, blocks, 64);
}

SHA_TARGET static void sha_pair(uint32_t *const s[2], const uint8_t *const p[2], size_t blocks,
    size_t stride) {
  sha_rounds(s, p, 2, blocks, stride);
}

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha_plain(uint32_t s[8], const uint8_t *p, size_t blocks, size_t stride) {
  for (; blocks; blocks--, p += stride) {
    uint32_t w[64], v[8];
    memcpy(v, s, 32);
    for (int i = 0; i < 64; i++) {
      if (i < 16) {
        memcpy(&w[i], p + 4 * i, 4);
        w[i] = __builtin_bswap32(w[i]);
      } else {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3);
        w[i] += w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
      }
      uint32_t one = v[7] + sha256_k[i] + w[i] + ((v[4] & v[5]) ^ (~v[4] & v[6]));
      one += turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
      uint32_t two = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
      two += turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
      memmove(v + 1, v, 28);
      v[4] += one;
      v[0] = one + two;
    }
    for (int i = 0; i < 8; i++) s[i] += v[i];
  }
}

/* Determined once: in a virtual machine CPUID exits to the hypervisor, which takes longer than the
 * digest of a page. */
static bool has_sha(void) {
  static int known; /* 0 unknown, 1 no, 2 yes: every thread computes the same value */
  int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!answer) {
    unsigned a, b, c, d;
    answer = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29 ? 2 : 1;
    __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
  }
  return answer == 2;
}

void sha256_begin(struct sha256 *sum) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(sum->state, first, sizeof first);
  sum->length = 0;
}

static void take_blocks(uint32_t state[8], const uint8_t *data, size_t blocks) {
  if (has_sha()) sha_fast(state, data, blocks);
  else sha_plain(state, data, blocks, 64);
}

void sha256_pair(uint32_t *const state[2], const uint8_t *const data[2], size_t blocks, size_t stride) {
  if (has_sha()) return sha_pair(state, data, blocks, stride);
  for (int m = 0; m < 2; m++) sha_plain(state[m], data[m], blocks, stride);
}

void sha256_blocks(struct sha256 *sum, const void *data, size_t length) {
  take_blocks(sum->state, data, length / 64);
  sum->length += length;
}

void sha256_end(struct sha256 *sum, const void *tail, size_t length, uint8_t digest[32]) {
  uint8_t last[128] = {0};
  size_t rest = length % 64, end = rest < 56 ? 64 : 128;
  sha256_blocks(sum, tail, length - rest);
  uint64_t bits = __builtin_bswap64((sum->length + rest) * 8);
  memcpy(last, (const uint8_t *)tail + length - rest, rest);
  last[rest] = 0x80;
  memcpy(last + end - 8, &bits, 8);
  take_blocks(sum->state, last, end / 64);
  for (int i = 0; i < 8; i++) {
    uint32_t w = __builtin_bswap32(sum->state[i]);
    memcpy(digest + 4 * i, &w, 4);
  }
}

void sha256(const void *data, size_t length, uint8_t digest[32]) {
  struct sha256 sum;
  sha256_begin(&sum);
  sha256_end(&sum, data, length, digest);
}
