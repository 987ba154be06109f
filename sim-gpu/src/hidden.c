/* The hidden thread: executes in the target the requests that callers post in its mailbox. */
#define _GNU_SOURCE
#include "hidden.h"
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int current = -1;  /* the slot being processed */
static struct node asked; /* the node during a call; no board if it cannot be reached */

static void nap(long microseconds) {
    struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

static uint32_t status_of(int i) { return __atomic_load_n(&mailbox.slot[i].status, __ATOMIC_ACQUIRE); }

static void answer(int i, CUresult result) {
    mailbox.slot[i].result = result;
    mailbox.slot[i].state = (int32_t)mailbox.state;
    __atomic_store_n(&mailbox.slot[i].status, SLOT_DONE, __ATOMIC_RELEASE);
}

int hidden_caller_lives(void) { return !asked.board || node_is_locked(&asked, SLOT_LOCK(mailbox.id, current)); }

void hidden_serve_meanwhile(void) {
    for (int i = 0; i < SLOTS; i++) {
        if (i != current && status_of(i) == SLOT_POSTED) {
            uint32_t call = mailbox.slot[i].call;
            answer(i, call == CALL_STATE || call == CALL_THREAD ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE);
        }
    }
}

/* A millisecond of CPU time, not of wall time, which on a busy machine could pass without any. */
static void compute(void) {
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec >= start.tv_sec && (now.tv_sec - start.tv_sec) * 1000000000l + now.tv_nsec - start.tv_nsec < 1000000);
}

/* Enough CPU time that the thread does not look idle, little enough not to disturb the machine. */
void hidden_work(long milliseconds, int serve) {
    while (milliseconds > 0) {
        compute();
        long rest = milliseconds < 20 ? milliseconds : 20;
        for (long i = 1; i < rest; i++) {
            nap(1000);
            if (serve) {
                hidden_serve_meanwhile();
            }
        }
        milliseconds -= rest;
    }
}

/* Busy until the file that shows the hold is removed. A caller that dies before it created the
 * file holds nothing. */
static void hold(int serve) {
    uint32_t *reached = &mailbox.slot[current].fault.hold;
    __atomic_store_n(reached, HOLD_REACHED, __ATOMIC_RELEASE);
    while ((__atomic_load_n(reached, __ATOMIC_ACQUIRE) != HOLD_SHOWN && hidden_caller_lives()) || node_holds(&asked) > 0) {
        hidden_work(10, serve);
    }
}

static void out_of_step(int how) {
    self.lost = how;
    mailbox.state = STATE_FAILED;
}

int hidden_fault(const struct fault *fault, CUresult *result) {
    switch (fault->kind) {
    case FAULT_HANG:
        while (hidden_caller_lives()) {
            nap(10000);
            hidden_serve_meanwhile();
        }
        return 0;
    case FAULT_STUCK:
        for (;;) {
            nap(1000000);
        }
    case FAULT_SLOW: hidden_work(fault->value, 1); return 0;
    case FAULT_HOLD:
        if (asked.board) {
            hold(fault->at != AT_POPULATE);
        }
        return 0;
    case FAULT_ERROR: *result = fault->value; return 1;
    case FAULT_FAILED:
        mailbox.state = STATE_FAILED;
        *result = CUDA_ERROR_UNKNOWN;
        return 1;
    case FAULT_OUT_OF_STEP:
        out_of_step(KILLED_FAILED);
        *result = CUDA_ERROR_OPERATING_SYSTEM;
        return 1;
    default: return 0;
    }
}

static CUresult lock(const struct slot *slot) {
    if (gate_shut(slot->timeout_ms, hidden_serve_meanwhile)) {
        return CUDA_ERROR_NOT_READY;
    }
    mailbox.state = STATE_LOCKED;
    return CUDA_SUCCESS;
}

static CUresult carry_out(const struct slot *slot) {
    static const uint32_t wanted[CALLS] = {
        [CALL_LOCK] = STATE_RUNNING,
        [CALL_CHECKPOINT] = STATE_LOCKED,
        [CALL_RESTORE] = STATE_CHECKPOINTED,
        [CALL_UNLOCK] = STATE_LOCKED,
    };
    if (slot->call == CALL_STATE || slot->call == CALL_THREAD) {
        return CUDA_SUCCESS;
    }
    if (self.lost) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (slot->call > CALL_UNLOCK || mailbox.state != wanted[slot->call]) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    switch (slot->call) {
    case CALL_LOCK: return lock(slot);
    case CALL_CHECKPOINT: return freeze_out(&slot->fault);
    case CALL_RESTORE: return freeze_in(slot);
    default:
        mailbox.state = STATE_RUNNING;
        gate_open();
        return CUDA_SUCCESS;
    }
}

static CUresult carry_out_with_faults(const struct slot *slot) {
    CUresult result;
    int long_call = slot->call == CALL_CHECKPOINT || slot->call == CALL_RESTORE;
    uint32_t at = (slot->fault.at == AT_MIDDLE && !long_call) || (slot->fault.at == AT_POPULATE && slot->call != CALL_CHECKPOINT) ? AT_BEFORE : slot->fault.at;
    if (at == AT_BEFORE) {
        if (hidden_fault(&slot->fault, &result)) {
            return result;
        }
        if (!hidden_caller_lives()) {
            return CUDA_ERROR_OPERATING_SYSTEM; /* not begun, and its caller is gone */
        }
    }
    result = carry_out(slot);
    if (at == AT_AFTER) {
        hidden_fault(&slot->fault, &result);
    }
    if (long_call && asked.board && asked.board->killed_caller != KILLED_FINISH && !hidden_caller_lives()) {
        out_of_step((int)asked.board->killed_caller);
    }
    return result;
}

static void take(int i) {
    while (self.lost == KILLED_HANG) {
        nap(1000000);
    }
    mailbox.slot[i].status = SLOT_TAKEN;
    current = i;
    if (node_open(&asked)) {
        asked.board = NULL;
    }
    /* A request whose caller died before it was begun, for example while this process was stopped,
     * is void. */
    CUresult result =
        hidden_caller_lives() ? carry_out_with_faults(&mailbox.slot[i]) : CUDA_ERROR_OPERATING_SYSTEM;
    if (asked.board) {
        node_close(&asked);
    }
    current = -1;
    answer(i, result);
}

static void *run(void *unused) {
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, WAKE_SIGNAL);
    prctl(PR_SET_NAME, HIDDEN_THREAD_NAME);
    __atomic_store_n(&mailbox.started, 1, __ATOMIC_RELEASE);
    for (;;) {
        /* When interrupted by a dump or a restore it also checks the slots: a wake-up may have
         * been lost. */
        sigwaitinfo(&wake, NULL);
        for (int i = 0; i < SLOTS; i++) {
            if (status_of(i) == SLOT_POSTED) {
                take(i);
            }
        }
    }
    return unused;
}

/* Returns once the thread is ready: on a busy machine it may start long after its creator has gone on, and calls to a
 * process without it fail. */
int hidden_start(void) {
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 512 << 10);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    while (!rc && !__atomic_load_n(&mailbox.started, __ATOMIC_ACQUIRE)) {
        nap(100);
    }
    return rc;
}
