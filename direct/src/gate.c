/* The gate itself: who is inside, closing, waiting until everybody has left. */
#include "gate.h"

#include "common.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

struct slot {
    volatile uint32_t inside;
    uint32_t owned;
} __attribute__((aligned(128))); /* processors fetch lines in pairs */

enum { SLOTS = 1024 };
struct slots {
    struct slot slot[SLOTS];
    struct slots *next;
};

static struct slots first_slots;
static pthread_key_t key;
static bool has_key;
HIDDEN volatile uint32_t gate_closed;
HIDDEN __thread struct slot *gate_slot __attribute__((tls_model("initial-exec")));

int64_t now_ms(void) { return (int64_t)(now_us() / 1000); }

void nap_us(long microseconds) {
    struct timespec pause = {0, microseconds * 1000};
    nanosleep(&pause, NULL);
}

void futex_wait(uint32_t *word, uint32_t value, long timeout_ms) {
    struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ms ? &limit : NULL, NULL, 0);
}

void futex_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

static void thread_ends(void *slot) {
    struct slot *s = slot;
    gate_slot = NULL;
    s->inside = 0;
    __atomic_store_n(&s->owned, 0, __ATOMIC_RELEASE);
}

static void make_key(void) { has_key = pthread_key_create(&key, thread_ends) == 0; }

static struct slot *take_slot(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    struct slots *all = &first_slots;
    for (;;) {
        for (int i = 0; i < SLOTS; i++) {
            if (!all->slot[i].owned && !__atomic_exchange_n(&all->slot[i].owned, 1, __ATOMIC_ACQUIRE)) {
                gate_slot = &all->slot[i];
                if (has_key) pthread_setspecific(key, gate_slot);
                return gate_slot;
            }
        }
        struct slots *next = __atomic_load_n(&all->next, __ATOMIC_ACQUIRE), *none = NULL;
        if (!next) {
            void *more = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (more == MAP_FAILED) {
                nap_us(1000); /* until another thread ends: without a slot a call would not be seen */
                continue;
            }
            if (__atomic_compare_exchange_n(&all->next, &none, more, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
                next = more;
            } else {
                munmap(more, sizeof *next);
                next = none;
            }
        }
        all = next;
    }
}

/* Of a thread's first call, and of each that finds the gate closed: returns with the thread counted as inside. */
HIDDEN void gate_enter(void) {
    int error = errno;
    if (gate_slot) gate_slot->inside = 0;
    driver_open();
    for (;;) {
        while (gate_closed) futex_wait((uint32_t *)&gate_closed, 1, 0);
        struct slot *slot = gate_slot ? gate_slot : take_slot();
        slot->inside = 1;
        /* No fence: gate_close makes every thread pass one between its store and its look at the slots. */
        __asm__ volatile("" ::: "memory");
        if (!gate_closed) break;
        slot->inside = 0;
    }
    errno = error;
}

static bool anybody_inside(void) {
    for (struct slots *all = &first_slots; all; all = __atomic_load_n(&all->next, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < SLOTS; i++) {
            if (all->slot[i].inside) return true;
        }
    }
    return false;
}

static int barrier(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return 0;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)) return -errno;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) ? -errno : 0;
}

bool gate_is_closed(void) { return gate_closed; }

int gate_close(int64_t deadline_ms) {
    gate_closed = 1;
    int rc = barrier();
    /* A poll, so that leaving the gate need not look whether anyone waits for it. */
    while (rc == 0 && anybody_inside()) {
        if (now_ms() >= deadline_ms) rc = -ETIMEDOUT;
        nap_us(50);
    }
    if (rc) gate_open();
    return rc;
}

void gate_open(void) {
    __atomic_store_n(&gate_closed, 0, __ATOMIC_SEQ_CST);
    futex_wake((uint32_t *)&gate_closed);
}

void gate_after_fork(void) {
    gate_closed = 0;
    for (struct slots *all = &first_slots; all; all = all->next) {
        for (int i = 0; i < SLOTS; i++) {
            if (&all->slot[i] != gate_slot) all->slot[i].inside = all->slot[i].owned = 0;
        }
    }
}
