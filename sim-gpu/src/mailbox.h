/* How a caller reaches a CUDA process: a page in the data of the target's libcuda, found through
 * /proc/PID/maps and accessed from outside. The caller posts a request in a free slot and wakes
 * the hidden thread with a signal. A slot belongs to the caller that holds its lock on nvidiactl,
 * so that a caller's death is detected. */
#ifndef SIM_MAILBOX_H
#define SIM_MAILBOX_H

#include "board.h"

#include <sys/types.h>

#define MAILBOX_MAGIC {0x2d6d6973, 0x6c69616d, 0x31786f62, 0x7b9d1f5a}
#define HIDDEN_THREAD_NAME "cuda-EvtHandlr"
#define WAKE_SIGNAL 61

enum { SLOTS = 16 };
enum slot_status { SLOT_FREE, SLOT_POSTED, SLOT_TAKEN, SLOT_DONE };
enum call {
    CALL_STATE, CALL_THREAD, CALL_LOCK, CALL_CHECKPOINT, CALL_RESTORE, CALL_UNLOCK,
    /* The program's own. */
    CALL_UNMAP, CALL_CREATE, CALL_MAP, CALL_EXPORT, CALL_IMPORT, CALL_RELEASE, CALL_TO_DEVICE, CALL_FROM_DEVICE, CALL_WITHIN_DEVICE,
    CALL_SYNCHRONIZE,
    CALLS
};

enum fault_kind { FAULT_NONE, FAULT_HANG, FAULT_STUCK, FAULT_ERROR, FAULT_FAILED, FAULT_SLOW, FAULT_OUT_OF_STEP, FAULT_HOLD };
enum fault_moment { AT_BEFORE, AT_POPULATE, AT_MIDDLE, AT_AFTER };
enum hold { HOLD_NONE, HOLD_REACHED, HOLD_SHOWN };

struct fault {
    uint32_t kind, at;
    int32_t value; /* the error code, or milliseconds */
    uint32_t hold; /* REACHED is set by the hidden thread, SHOWN by the caller once the file exists */
};

struct pair {
    uint8_t from[16], to[16];
};

struct slot {
    uint32_t status;
    uint32_t call;
    uint32_t timeout_ms;
    uint32_t pairs;
    struct pair pair[MAX_GPUS];
    struct fault fault;
    int32_t result;
    int32_t state;
};

struct mailbox {
    uint32_t magic[4];
    uint32_t started; /* the hidden thread of this process is ready */
    uint32_t state;
    uint64_t id;      /* random: identifies the locks of the slots */
    uint64_t node;    /* the GPU of its device memory */
    uint32_t owner;   /* there; 0 if it has none */
    struct slot slot[SLOTS];
};

#define SLOT_LOCK(id, index) ((1ull << 41) + ((id) & 0xffffffffull) * SLOTS + (uint64_t)(index))

/* The address of a process's mailbox; -ESRCH without such a process, -ENOENT if it is not a CUDA
 * process. */
int mailbox_find(pid_t pid, uint64_t *address);
int mailbox_read(pid_t pid, uint64_t address, void *to, size_t length);
int mailbox_write(pid_t pid, uint64_t address, const void *from, size_t length);
/* The id of the hidden thread in this process's /proc, or -ESRCH. */
pid_t mailbox_thread(pid_t pid);

#endif
