/* cuda-call: makes one checkpoint call with any libcuda.so.1, for tests and for users at a shell. */
#define _GNU_SOURCE
#include "cuda-abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] = "usage: cuda-call state|restoreThread|lock|checkpoint|restore|unlock PID [--timeout MS] [--pair OLD=NEW]...\n"
                            "                 [--byte OFFSET]\n"
                            "Prints the result, its name, the state afterwards (of state: the state), and milliseconds.\n";

static void *library;

static void *symbol(const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "cuda-call: %s\n", dlerror());
        exit(3);
    }
    return found;
}

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static const char *uuid(const char *text, uint8_t *bytes) {
    text += strncmp(text, "GPU-", 4) == 0 ? 4 : 0;
    for (int i = 0; i < 16; i++) {
        text += *text == '-';
        if (hex(text[0]) < 0 || hex(text[1]) < 0) {
            fputs("cuda-call: not a GPU's uuid\n", stderr);
            exit(2);
        }
        bytes[i] = (uint8_t)(hex(text[0]) << 4 | hex(text[1]));
        text += 2;
    }
    return text;
}

int main(int argc, char **argv) {
    static const char *const calls[][2] = {{"state", "GetState"}, {"restoreThread", "GetRestoreThreadId"}, {"lock", "Lock"},
                                           {"checkpoint", "Checkpoint"}, {"restore", "Restore"}, {"unlock", "Unlock"}};
    static CUcheckpointGpuPair pairs[64];
    uint64_t args[8] = {0};
    uint32_t count = 0;
    char function[64] = "";
    for (size_t i = 0; argc > 2 && i < 6; i++) {
        if (strcmp(argv[1], calls[i][0]) == 0) {
            snprintf(function, sizeof function, "cuCheckpointProcess%s", calls[i][1]);
        }
    }
    if (!*function) {
        fputs(usage, stderr);
        return 2;
    }
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--timeout") == 0) {
            ((CUcheckpointLockArgs *)(void *)args)->timeoutMs = (uint32_t)atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--byte") == 0) {
            ((char *)args)[atoi(argv[i + 1]) & 63] = 1;
        } else if (count < 64) {
            const char *rest = uuid(argv[i + 1], pairs[count].oldUuid.bytes);
            uuid(rest + 1, pairs[count++].newUuid.bytes);
        }
    }
    if (count) {
        CUcheckpointRestoreArgs *restore = (void *)args;
        restore->gpuPairs = pairs;
        restore->gpuPairsCount = count;
    }
    library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*act)(int, void *) = symbol(function);
    int (*state)(int, int *) = symbol("cuCheckpointProcessGetState");
    int (*name)(int, const char **) = symbol("cuGetErrorName");
    int pid = atoi(argv[2]), value = -1, query = strstr(function, "Get") != NULL;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int result = act(pid, query ? (void *)&value : (void *)args);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const char *said = "?";
    name(result, &said);
    if (!query) {
        state(pid, &value);
    }
    printf("%d %s %d %.1f\n", result, said, value,
           (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6);
    return result ? 1 : 0;
}
