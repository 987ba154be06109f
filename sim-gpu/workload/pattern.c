/* The expected content of the device memory, computed only from the step, so that lost, repeated
 * and wrong steps are detected. */
#include "counter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Gigabytes are filled and compared: compiled once for each vector extension, and the linker
 * selects the best. */
#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ >= 12
#define FAST __attribute__((optimize("O3"), target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define FAST
#endif

static inline uint64_t word_of(uint64_t step, uint64_t chunk, uint64_t word) {
    uint64_t x = step * 0x9e3779b97f4a7c15ull + chunk * 0xd1b54a32d192ed03ull + word + 1;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

FAST void pattern_fill_part(uint64_t *words, uint64_t step, uint64_t chunk, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; i++) {
        words[i] = word_of(step, chunk, i);
    }
}

FAST int pattern_part_holds(const uint64_t *words, uint64_t step, uint64_t chunk, uint64_t first, uint64_t count) {
    uint64_t wrong = 0;
    for (uint64_t i = first; i < first + count; i++) {
        wrong |= words[i] ^ word_of(step, chunk, i);
    }
    return wrong == 0;
}

void pattern_fill(uint64_t *words, uint64_t step, uint64_t chunk) { pattern_fill_part(words, step, chunk, 0, WORDS); }

int pattern_holds(const uint64_t *words, uint64_t step, uint64_t chunk) {
    return pattern_part_holds(words, step, chunk, 0, WORDS);
}

/* In lanes that do not wait for each other. */
FAST uint64_t pattern_digest(const uint64_t *words, uint64_t seed) {
    enum { LANES = 8 };
    uint64_t lane[LANES];
    for (int k = 0; k < LANES; k++) {
        lane[k] = seed + (uint64_t)k;
    }
    for (uint64_t i = 0; i < WORDS; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            lane[k] = (lane[k] ^ words[i + (uint64_t)k]) * 0x100000001b3ull;
        }
    }
    for (int k = 0; k < LANES; k++) {
        seed = (seed ^ lane[k]) * 0x100000001b3ull;
    }
    return seed;
}

uint64_t pattern_sum(uint64_t step, uint64_t chunks) {
    static uint64_t words[WORDS];
    pattern_fill(words, step, step % chunks);
    return pattern_digest(words, step);
}

int verify_log(const char *path, uint64_t chunks, uint64_t first) {
    FILE *file = fopen(path, "r");
    char line[512];
    uint64_t wanted = first;
    if (!file) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        uint64_t step, sum;
        char word[16];
        if (strncmp(line, "step ", 5) != 0) {
            continue;
        }
        if (sscanf(line, "step %" SCNu64 " sum %" SCNx64 " %15s", &step, &sum, word) != 3 || step != wanted ||
            sum != pattern_sum(step, chunks) || strcmp(word, "ok") != 0) {
            printf("expected step %" PRIu64 " sum %016" PRIx64 " ok, got %s", wanted, pattern_sum(wanted, chunks), line);
            fclose(file);
            return 1;
        }
        wanted++;
    }
    fclose(file);
    printf("verified %" PRIu64 " steps\n", wanted - first);
    return wanted > first ? 0 : 1;
}
