/*
 * The simulated node: one folder whose file `nvidiactl` is a table that every process maps, and whose files `nvidia0`...
 * are the memory of the GPUs. In a container the same files appear as /dev/nvidiactl and /dev/nvidiaN.
 */
#ifndef SIM_BOARD_H
#define SIM_BOARD_H

#include <stddef.h>
#include <stdint.h>

#define BOARD_MAGIC 0x3155504753495453ull /* "STSIGPU1" */
#define BOARD_VERSION 3
#define BOARD_HOME_VARIABLE "STASIS_SIM_GPU"

enum {
    BLOCK_BYTES = 256 << 10, /* allocation unit of device memory */
    MAX_GPUS = 16,
    MAX_OWNERS = 8192,
};

/* For memory of cuMemCreate, the offset of the open file identifies the owner. */
#define OWNER_MARK (1ll << 50)

/* The effect on a target if its caller is killed during a call. */
enum killed_caller { KILLED_FINISH = 0, KILLED_FAILED = 1, KILLED_HANG = 2 };

struct board_gpu {
    uint8_t uuid[16];
    char name[96];
    uint32_t domain, bus, device;
    uint32_t major, minor; /* compute capability */
    uint32_t blocks;
    uint64_t owners; /* offset in nvidiactl of a uint16 for each block: 0 free, else its owner */
};

struct board {
    uint64_t magic;
    uint32_t version;
    uint32_t gpus;
    uint64_t node; /* random: identifies this node among those of one machine */
    char driver[80];
    int32_t cuda;
    uint32_t killed_caller;
    uint32_t mig, no_persistence;
    uint32_t merge;            /* place the region beside a mapping of the program */
    uint32_t slow_us_per_mib;  /* added to the population of a region and to each copy */
    uint32_t switch_ms;        /* so long a GPU waits for a kernel of a resumed process before it ends that process */
    uint32_t switches[MAX_GPUS]; /* how often a context began or ended on a GPU, which takes the GPU for a moment */
    uint8_t link[MAX_GPUS][MAX_GPUS]; /* NVLinks between each pair */
    struct board_gpu gpu[MAX_GPUS];
    uint8_t owned[MAX_OWNERS];
};

/* The last page of each device file identifies the GPU, whatever the file's name in a container
 * is. */
struct board_label {
    uint64_t magic;
    uint64_t node;
    uint32_t index;
};
#define LABEL_BYTES 4096

/* One open view of the node. Locks belong to `ctl`, so two views never share locks. */
struct node {
    int ctl;
    struct board *board;
    size_t length;
    char folder[256];
};

/* Opens the folder named by STASIS_SIM_GPU, or /dev; 0 or a negative errno. */
int node_open(struct node *node);
void node_close(struct node *node);

/* The GPU of the file `nvidia<minor>` in this view, opened to *fd; negative if there is none. */
int node_device(const struct node *node, int minor, int *fd);
#define MAX_MINOR 64

/* Locks on bytes of nvidiactl: released with the process that holds them. */
int node_lock_table(const struct node *node);
void node_unlock_table(const struct node *node);
int node_try_lock(const struct node *node, uint64_t byte);
void node_unlock(const struct node *node, uint64_t byte);
int node_is_locked(const struct node *node, uint64_t byte);

/* Hard links of nvidiactl besides itself: each held call has one in faults/, which a container
 * need not see. */
int node_holds(const struct node *node);

/* Owners of device memory; the table must be locked. */
void board_reap(const struct node *node, int self);
int board_claim(const struct node *node);
void board_release(const struct node *node, int owner);
uint32_t board_count(const struct node *node, int gpu, int owner); /* owner 0: free blocks */
int board_take(const struct node *node, int gpu, int owner, uint32_t count, uint32_t *blocks);
void board_list(const struct node *node, int gpu, int owner, uint32_t *blocks); /* block + 1, of all that it has */
void board_give(const struct node *node, int gpu, uint32_t block);

#endif
