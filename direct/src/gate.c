/* The gate itself: who is inside, closing, waiting until everybody has left. */
#include "gate.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

enum owner { FRESH, OWNED, LEFT }; /* never taken; taken; its thread has ended */

struct slot {
    volatile uint32_t inside;
    uint32_t owner;
} __attribute__((aligned(128))); /* processors fetch lines in pairs */

/* Taken from the first on and never FRESH again, so a fresh one is behind all that are in use. Only pages of used slots take memory. */
enum { SLOTS = 1 << 16 };
static struct slot slots[SLOTS];
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
    __atomic_store_n(&s->owner, LEFT, __ATOMIC_RELEASE);
}

static void make_key(void) { has_key = pthread_key_create(&key, thread_ends) == 0; }

static struct slot *take_slot(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    for (;; nap_us(1000)) { /* until another thread ends: without a slot a call would not be seen */
        for (struct slot *s = slots; s < slots + SLOTS; s++) {
            if (s->owner == OWNED || __atomic_exchange_n(&s->owner, OWNED, __ATOMIC_ACQ_REL) == OWNED) continue;
            gate_slot = s;
            if (has_key) pthread_setspecific(key, s);
            return s;
        }
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
    for (struct slot *s = slots; s < slots + SLOTS && __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE) != FRESH; s++) if (s->inside) return true;
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
    for (struct slot *s = slots; s < slots + SLOTS && s->owner != FRESH; s++) if (s != gate_slot) *s = (struct slot){.owner = LEFT};
}
