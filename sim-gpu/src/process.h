/* What one CUDA process is: its GPUs, its device memory, the gate before its calls, and its hidden thread. */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "cuda-abi.h"
#include "mailbox.h"

#include <pthread.h>

enum { MAX_ALLOCATIONS = 4096, MAX_CONTEXTS = 64, MAX_MANAGED = 64, CONTEXT_BLOCKS = 8, PIECE = 1 << 20 };

#define DEVICE_BASE 0x0d0000000000ull /* device addresses; nothing of a process is ever mapped there */
#define DEVICE_SHIFT 38
#define PAGE_FREE 0u
#define PAGE_AWAY 0xffffffffu /* in use, its block given back at Checkpoint */
#define CONTEXT_STATE_BYTES (10ull << 20)

struct allocation {
    CUdeviceptr address; /* 0: unused entry */
    uint64_t bytes;
};

struct managed {
    void *address; /* NULL: unused entry */
    uint64_t bytes;
};

struct process {
    pthread_mutex_t mutex; /* the tables below, among the threads of the program */
    int initialised, forked;
    int managed_count, peer;
    int context_broken; /* Restore found other context state than Checkpoint left */
    int wedged;         /* a Restore failed half-way: the driver never gets over it */
    int lost;           /* out of step: 1 every call fails, 2 every call hangs */
    int visible;        /* GPUs, in the order of their minor numbers */
    int gpu[MAX_GPUS];  /* index on the board */
    int fd[MAX_GPUS];   /* its memory; -1 while checkpointed */
    uint8_t uuid[MAX_GPUS][16];
    char name[MAX_GPUS][96];
    uint32_t *page[MAX_GPUS]; /* for each block of the address space: device block + 1 */
    uint32_t pages[MAX_GPUS];
    struct node node;
    int poison; /* a descriptor that no checkpointer of processes can save */
    struct allocation allocation[MAX_ALLOCATIONS];
    struct managed managed[MAX_MANAGED];
};

extern struct process self;
extern struct mailbox mailbox;

/* The gate: calls of the program pass it; while it is shut they wait in it. */
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

/* Device memory; `write` 1 to the device. The caller holds the mutex or the gate. */
CUresult memory_allocate(int ordinal, uint64_t bytes, CUdeviceptr *address);
void memory_free(CUdeviceptr address, uint64_t bytes);
CUresult memory_copy(CUdeviceptr address, void *host, uint64_t bytes, int write);
CUresult memory_fill(CUdeviceptr address, uint32_t value, uint64_t bytes);
uint32_t memory_pages(int ordinal); /* blocks in use */
struct managed *memory_managed(CUdeviceptr address, uint64_t bytes);

/* The hidden thread. */
int hidden_start(void);
void hidden_serve_meanwhile(void);
/* Waits, looking like a thread at work, and serves others if asked to. */
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
