/* The caller's side of cuCheckpointProcess*: arguments, a request in the target's mailbox, and the
 * wait for its answer. */
#define _GNU_SOURCE
#include "cuda-abi.h"
#include "fault.h"
#include "mailbox.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOT_AT(box, index) ((box) + offsetof(struct mailbox, slot) + (uint64_t)(index) * sizeof(struct slot))

static void doze(long microseconds) {
    struct timespec pause = {0, microseconds * 1000};
    nanosleep(&pause, NULL);
}

/* A slot that no living caller holds and that the hidden thread is not processing. */
static int claim(const struct node *node, pid_t pid, uint64_t box, uint64_t id) {
    for (;;) {
        for (int i = 0; i < SLOTS; i++) {
            uint32_t status;
            if (!node_try_lock(node, SLOT_LOCK(id, i))) {
                continue;
            }
            if (mailbox_read(pid, SLOT_AT(box, i), &status, sizeof status)) {
                return -ESRCH;
            }
            if (status == SLOT_FREE || status == SLOT_DONE) {
                return i;
            }
            node_unlock(node, SLOT_LOCK(id, i));
        }
        doze(5000);
    }
}

static int wake(pid_t pid) {
    pid_t thread = mailbox_thread(pid);
    return thread < 0 ? -ESRCH : (int)syscall(SYS_tgkill, pid, thread, WAKE_SIGNAL);
}

/* Shows that the call has reached its hold; the hidden thread does not continue before. 1 once
 * nothing is left to do. */
static int show_hold(const struct node *node, const char *taken, pid_t pid, uint64_t at) {
    uint64_t hold_at = at + offsetof(struct slot, fault) + offsetof(struct fault, hold);
    uint32_t hold, shown = HOLD_SHOWN;
    if (mailbox_read(pid, hold_at, &hold, sizeof hold) || hold != HOLD_REACHED) {
        return 0;
    }
    fault_show_held(node->folder, taken);
    mailbox_write(pid, hold_at, &shown, sizeof shown);
    return 1;
}

/* Waits without a limit, like the real driver. */
static CUresult await(const struct node *node, const char *taken, pid_t pid, uint64_t at, struct slot *slot) {
    int shown = slot->fault.kind != FAULT_HOLD;
    long pause = 20, since_wake = 0;
    for (;;) {
        uint32_t status;
        if (mailbox_read(pid, at, &status, sizeof status)) {
            return CUDA_ERROR_OPERATING_SYSTEM;
        }
        if (status == SLOT_DONE) {
            return mailbox_read(pid, at, slot, sizeof *slot) ? CUDA_ERROR_OPERATING_SYSTEM : slot->result;
        }
        shown = shown || show_hold(node, taken, pid, at);
        doze(pause);
        since_wake += pause;
        pause = pause < 2000 ? pause * 5 / 4 : 2000;
        if (since_wake > 500000) {
            since_wake = 0;
            /* The thread is gone after an exec; its wake-up may have been lost in a dump. */
            if (mailbox_thread(pid) < 0 || (status == SLOT_POSTED && wake(pid) < 0)) {
                return CUDA_ERROR_OPERATING_SYSTEM;
            }
        }
    }
}

static CUresult post(const struct node *node, pid_t pid, struct slot *slot) {
    uint64_t box;
    char taken[FAULT_PATH];
    struct mailbox head;
    int rc = mailbox_find(pid, &box);
    if (rc) {
        return rc == -ENOENT ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (mailbox_read(pid, box, &head, offsetof(struct mailbox, slot))) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (!head.started) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    int index = claim(node, pid, box, head.id);
    if (index < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    uint64_t at = SLOT_AT(box, index);
    uint32_t posted = SLOT_POSTED;
    fault_take(node->folder, (enum call)slot->call, pid, &slot->fault, taken);
    slot->status = SLOT_FREE;
    if (mailbox_write(pid, at, slot, sizeof *slot) || mailbox_write(pid, at, &posted, sizeof posted) || wake(pid) < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return await(node, taken, pid, at, slot);
}

static CUresult call(int pid, struct slot *slot) {
    struct node node;
    if (pid <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (node_open(&node)) {
        return CUDA_ERROR_NO_DEVICE;
    }
    CUresult result = post(&node, pid, slot);
    node_close(&node);
    return result;
}

static int zero(const void *bytes, size_t from) {
    const char *p = bytes;
    while (from < 64 && p[from] == 0) {
        from++;
    }
    return from == 64;
}

EXPORT CUresult cuCheckpointProcessGetState(int pid, int *state) {
    struct slot slot = {.call = CALL_STATE};
    if (!state) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = call(pid, &slot);
    if (result == CUDA_SUCCESS) {
        *state = slot.state;
    }
    return result;
}

EXPORT CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int *tid) {
    struct slot slot = {.call = CALL_THREAD};
    if (!tid) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = call(pid, &slot);
    if (result == CUDA_SUCCESS) {
        *tid = mailbox_thread(pid);
        result = *tid > 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
    }
    return result;
}

EXPORT CUresult cuCheckpointProcessLock(int pid, const CUcheckpointLockArgs *args) {
    struct slot slot = {.call = CALL_LOCK};
    if (args && !zero(args, 4)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    slot.timeout_ms = args ? args->timeoutMs : 0;
    return call(pid, &slot);
}

EXPORT CUresult cuCheckpointProcessCheckpoint(int pid, const CUcheckpointCheckpointArgs *args) {
    struct slot slot = {.call = CALL_CHECKPOINT};
    return args && !zero(args, 0) ? CUDA_ERROR_INVALID_VALUE : call(pid, &slot);
}

static int driver_version(void) {
    struct node node;
    if (node_open(&node)) {
        return 0;
    }
    int version = node.board->cuda;
    node_close(&node);
    return version;
}

EXPORT CUresult cuCheckpointProcessRestore(int pid, const CUcheckpointRestoreArgs *args) {
    struct slot slot = {.call = CALL_RESTORE};
    if (args && !zero(args, driver_version() < 13000 ? 0 : 12)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (args && args->gpuPairsCount) {
        if (!args->gpuPairs || args->gpuPairsCount > MAX_GPUS) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        slot.pairs = args->gpuPairsCount;
        memcpy(slot.pair, args->gpuPairs, slot.pairs * sizeof slot.pair[0]);
    }
    return call(pid, &slot);
}

EXPORT CUresult cuCheckpointProcessUnlock(int pid, const CUcheckpointUnlockArgs *args) {
    struct slot slot = {.call = CALL_UNLOCK};
    return args && !zero(args, 0) ? CUDA_ERROR_INVALID_VALUE : call(pid, &slot);
}
