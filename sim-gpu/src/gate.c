/* The gate before the program's calls: Lock closes it once the running calls have ended. */
#include "process.h"

#include <errno.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int shut;
static int inside;

CUresult gate_enter(void) {
    if (!self.initialised || self.forked) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    pthread_mutex_lock(&mutex);
    while (shut) {
        pthread_cond_wait(&changed, &mutex);
    }
    inside++;
    pthread_mutex_unlock(&mutex);
    if (self.context_broken) {
        gate_leave();
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return CUDA_SUCCESS;
}

void gate_leave(void) {
    pthread_mutex_lock(&mutex);
    if (--inside == 0) {
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

int gate_shut(uint32_t timeout_ms, void (*meanwhile)(void)) {
    int64_t start = now_ms();
    int rc = 0;
    pthread_mutex_lock(&mutex);
    shut = 1;
    while (inside && rc == 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000; /* 1 ms: other callers are answered meanwhile */
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&changed, &mutex, &until);
        pthread_mutex_unlock(&mutex);
        meanwhile();
        pthread_mutex_lock(&mutex);
        if (inside && timeout_ms && now_ms() - start >= timeout_ms) {
            rc = -ETIMEDOUT;
            shut = 0;
            pthread_cond_broadcast(&changed);
        }
    }
    pthread_mutex_unlock(&mutex);
    return rc;
}

void gate_open(void) {
    pthread_mutex_lock(&mutex);
    shut = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void gate_reset(void) {
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    shut = inside = 0;
}
