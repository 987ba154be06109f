/* The state of one CUDA process: its GPUs, its device memory, the gate before its calls, and its
 * hidden thread. */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "cuda-abi.h"
#include "mailbox.h"

#include <pthread.h>

enum { MAX_ALLOCATIONS = 4096, MAX_CONTEXTS = 64, MAX_MANAGED = 64, MAX_BACKINGS = 4096, CONTEXT_BLOCKS = 8, PIECE = 1 << 20 };

#define DEVICE_BASE 0x0d0000000000ull /* device addresses; a process never maps anything there */
#define DEVICE_SHIFT 38
#define PAGE_FREE 0u
#define PAGE_AWAY 0x7fffffffu     /* in use; Checkpoint frees its block */
#define PAGE_RESERVED 0x7ffffffeu /* an address without memory behind it */
#define PAGE_MAPPED 0x80000000u   /* the block of a backing (vmm.c) */
#define PAGE_ACCESS 0x40000000u   /* that may be used */
#define PAGE_BLOCK 0x3fffffffu
#define CONTEXT_STATE_BYTES (10ull << 20)

struct allocation {
    CUdeviceptr address; /* 0: unused entry */
    uint64_t bytes;
    void *context; /* its memory goes with it */
};

struct managed {
    void *address; /* NULL: unused entry */
    uint64_t bytes;
};

/* Memory of cuMemCreate. It exists as long as any process has a descriptor of the same open file,
 * which holds its lock. */
struct backing {
    int used, ordinal, exportable, shared; /* shared: was exported, or is an import */
    int refs, maps;
    int fd, owner; /* -1, 0 while checkpointed */
    uint32_t count, *block; /* device block + 1 */
};

struct mapping {
    CUdeviceptr address; /* 0: unused entry */
    uint64_t first, count;
    struct backing *backing;
};

struct process {
    pthread_mutex_t mutex; /* the tables below, among the threads of the program */
    int initialised, forked;
    int managed_count, peer;
    int context_broken; /* Restore found another context state than Checkpoint left */
    int resumed;        /* Restore has been called: its kernels cannot be preempted any more */
    int wedged;         /* a Restore failed in the middle: permanently unusable */
    int lost;           /* out of step: 1 every call fails, 2 every call hangs */
    int visible;        /* GPUs, in the order of their minor numbers */
    int gpu[MAX_GPUS];  /* index on the board */
    int fd[MAX_GPUS];   /* its memory; -1 while checkpointed */
    uint8_t uuid[MAX_GPUS][16];
    char name[MAX_GPUS][96];
    uint32_t *page[MAX_GPUS]; /* for each block of the address space: device block + 1 */
    uint32_t pages[MAX_GPUS];
    struct node node;
    int poison; /* a descriptor that no checkpointer can save */
    struct allocation allocation[MAX_ALLOCATIONS];
    struct managed managed[MAX_MANAGED];
    struct backing backing[MAX_BACKINGS];
    struct mapping mapping[MAX_BACKINGS];
};

extern struct process self;
extern struct mailbox mailbox;

/* The gate: calls of the program pass it; while it is closed they wait. */
CUresult gate_enter(void);
void gate_leave(void);
int gate_shut(uint32_t timeout_ms, void (*meanwhile)(void)); /* 0, or -ETIMEDOUT with the gate open again */
void gate_open(void);
void gate_reset(void);

/* Attaching to the node: in cuInit, and in Restore. */
struct view {
    struct node node;
    int visible;
    int gpu[MAX_GPUS], fd[MAX_GPUS];
};
int view_open(struct view *view);
void view_close(struct view *view);
int poison_open(void);

/* Device memory; `write` 1 copies to the device. The caller holds the mutex or the gate. */
CUresult memory_allocate(int ordinal, uint64_t bytes, CUdeviceptr *address);
void memory_free(CUdeviceptr address, uint64_t bytes);
/* The fault for a call of the program itself, or success: only `error N`. */
CUresult process_fault(enum call call);
CUresult memory_copy(CUdeviceptr address, void *host, uint64_t bytes, int write);
CUresult memory_fill(CUdeviceptr address, uint32_t value, uint64_t bytes);
struct managed *memory_managed(CUdeviceptr address, uint64_t bytes);

int memory_find(int ordinal, uint32_t count, uint32_t align); /* the first of this many free pages; negative if there are none */
int memory_ordinal(CUdeviceptr address);
uint64_t memory_offset(CUdeviceptr address);

/* Every block of this process, in a stable order: its own pages, then backings. */
struct walk {
    int gpu;
    uint32_t next;
    int backing; /* at which it is, or -1 */
};
#define WALK_START {.backing = -1}
uint32_t *walk_next(struct walk *walk, int *gpu);
uint64_t walk_count(int ordinal); /* ordinal -1: all GPUs */
int vmm_shared(void);             /* exported or imported memory that is still held */
int vmm_claim(struct backing *backing, const struct node *node, int gpu, uint32_t *blocks); /* the table is locked */
void vmm_leave(void);             /* closes every descriptor */
void vmm_adopt(void);             /* updates pages to the current blocks of the backings */

/* The hidden thread. */
int hidden_start(void);
void hidden_serve_meanwhile(void);
/* Waits, looking like a working thread, and serves other requests if asked to. */
void hidden_work(long milliseconds, int serve);
int hidden_caller_lives(void);

/* Checkpoint and Restore, in the hidden thread. */
CUresult freeze_out(const struct fault *fault);
CUresult freeze_in(const struct slot *request);

/* The host memory that holds the device bytes of a checkpointed process. */
int region_map(uint64_t bytes, int merge);
uint8_t *region_base(void);
int region_populate(uint64_t bytes, uint32_t slow_us_per_mib);
void region_unmap(void);

#endif
