/* stasis-keeper: what its parts share. docs/direct-path.md is the contract. */
#ifndef STASIS_KEEPER_H
#define STASIS_KEEPER_H
#define _GNU_SOURCE
#include "common.h"
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { MAX_DEVICES = 32, MAX_WORKLOADS = 64, MAX_ITEMS = 1 << 16, NAME_BYTES = 32, ANSWER_BYTES = 8192, CHUNK = 8 << 20, GRANULE = 2 << 20 };

/* Memory of a workload that is mapped here; mapped 0: none is. */
struct import {
    int device;
    uint64_t handle, mapped;
};

/* One allocation of a workload. Its content is in at least one of: kept, snapshot, staged, a file. */
struct item {
    uint32_t block;
    int device;       /* of the keeper: where kept and snapshot are; -1: not known yet */
    uint64_t address, bytes; /* in the workload */
    int fd;           /* of kept; -1 once it was handed back */
    struct import kept, fresh; /* what the workload had, and in a reload what it gets */
    uint64_t snapshot;
    uint8_t *staged; /* in a room, or NULL */
};

struct workload {
    char name[NAME_BYTES]; /* empty: unused entry */
    pid_t pid;
    uint64_t start, bytes;
    int socket; /* to the library, or -1 */
    int page;   /* the library's, or 0 */
    uint32_t wanted; /* what it said when the snapshot was made */
    bool unloaded; /* the content may be here alone: only an explicit drop gives it up */
    struct item *items;
    uint32_t count;
};

/* What went wrong in this thread, in one sentence; the last one wins. Returns false, so that callers can `return fail(...)`. */
extern __thread char failure[512];
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The driver, and the keeper's contexts. */
bool cuda_open(void);
/* False with the call and the driver's name for the result. */
bool ok(int result, const char *call);
/* The number of a GPU with a context, or negative. One is not made for a GPU that only a workload has named. */
int cuda_device(const uint8_t *uuid, const char *named, bool make); /* named: by the agent, NULL: its UUID says which */
bool cuda_use(int device);               /* makes its context the thread's */
bool cuda_free(int device, uint64_t *left);
uint64_t cuda_total(int device); /* 0 when it cannot be asked for */
/* Maps memory of a descriptor into the keeper; nothing is left when that fails. */
bool cuda_import(int device, int fd, uint64_t bytes, struct import *to);
void cuda_drop(struct import *what, uint64_t bytes);

/* Unix sockets; -1 with the reason as the failure. */
int socket_listen(const char *path, int type), socket_connect(const char *path, int type);
int socket_next(int listener, int current); /* a new connection takes the place of the current one */
/*
 * Serves one client at a time, until none is connected for so long while it is idle (NULL: always); serve() is false when the client
 * is gone.
 */
void socket_serve(int listener, int patience_ms, bool (*serve)(int client), bool (*idle)(void));
/* Its length, -1 when something was cut off; descriptors for which there is no room are closed. */
ssize_t socket_receive(int socket, void *data, size_t length, int *fds, uint32_t room, uint32_t *count);

/* The library in a workload. */
uint64_t link_start_of(pid_t pid); /* a pid that was given again is another process; 0: there is none */
bool link_open(struct workload *w);
bool link_call(struct workload *w, uint32_t command, uint64_t value, int timeout_ms, struct gate_reply *reply, int *fds);
bool link_look(pid_t pid, uint64_t start, struct gate_page *page, int *fd); /* fd: NULL, or it is left open there */
uint32_t link_wanted(const struct workload *w); /* how often the program lacked the memory of the snapshot */
void link_hang_up(struct workload *w), link_close(struct workload *w);
void close_all(int *fds, uint32_t count);

/* The second holder: another process that has the same descriptors. */
int holder_main(void);               /* its standard input is the socket on which it listens */
bool holder_start(const char *path); /* of the keeper at that path */
void holder_end(void);               /* with the keeper, unless it has memory */
extern int holder; /* the connection to it, or -1 */
bool holder_put(const struct workload *w, uint32_t first); /* the items from there on */
bool holder_drop(const struct workload *w, uint32_t block); /* block UINT32_MAX: all */
bool holder_has(uint32_t count);
bool holder_recover(void);
bool holder_replace(void); /* after its death */

/* Pinned host memory: a slot for each copying thread. */
extern uint8_t *arena;
bool arena_open(unsigned threads); /* 0: as many as before */
void arena_close(uint8_t *which);

/* The threads that copy: into a room, whose pages they make before; to a file; from a file to fresh memory or to snapshots. */
enum copy { COPY_POPULATE, COPY_STAGE, COPY_SAVE, COPY_LOAD, COPY_PREFILL, COPY_ARRIVED }; /* ARRIVED: the digests are only computed */
struct piece {
    uint32_t item, length, crc;
    uint64_t at, offset; /* in the item, and in the file */
    bool zero, done;
    char sha[65]; /* its digest, as text */
};
struct job {
    enum copy kind;
    struct workload *w;
    struct piece *chunks; /* NULL: of all items; the caller frees them */
    size_t count;
    int file;
    uint64_t from, to; /* LOAD and after it: in the file */
    uint8_t *map; /* POPULATE, SAVE: of the file, where it is on a tmpfs */
    bool pinned;  /* the GPU can write into it */
    void (*saved)(uint64_t bytes); /* SAVE: receives how much from the beginning is final, or NULL; must not block */
};
bool copy_start(unsigned threads); /* 0: as many as before */
bool copy_run(struct job *job);
/* The item's content, by where it is: kept, then the snapshot, then the room. */
bool copy_device(uint64_t to, const struct item *item);
bool content_here(const struct workload *w);
bool snapshot_make(struct workload *w, uint64_t reserve);
bool snapshot_here(const struct workload *w), snapshot_in_the_way(const struct workload *w);
void snapshot_drop(struct workload *w);
void snapshot_release(struct item *item);
bool stage_make(struct workload *w, const char *path); /* into the room of that file */

/* Files of an artifact: PATH.data and PATH.chunks. */
struct file {
    int data;
    struct workload content; /* items that are nowhere else */
    struct piece *chunks;
    size_t count;
    dev_t device; /* which file it is */
    ino_t inode;
    bool whole; /* the table is complete: the digests of the chunks are those of the artifact */
};
/* What uses a store. It may be left behind, so all that it uses is its own. */
struct call {
    bool (*run)(struct call *call);
    struct job job;
    struct workload w;
    struct file file, *opened; /* opened: receives it in the end, or NULL */
    char path[4096];
    struct item items[];
};
/*
 * Runs it, with its copy_run, in a thread of its own, and frees it in the end. A store that does not respond holds threads
 * in the kernel: once the agent has closed its connection, they are left behind, and end when the store responds.
 */
bool copy_call(struct call *call); /* NULL: out of memory */
bool copy_passes(int busy);        /* in such a call: it was not left behind. -1: a thread enters the store, 1: leaves it */
void call_free(struct call *call);
extern _Atomic unsigned left_behind;
struct piece *chunks_of(const struct workload *w, size_t *count);
bool file_save(struct workload *w, const char *path, void (*saved)(uint64_t bytes));
bool file_open(const char *path, struct file *file); /* also one whose table has only its regions yet, and of any size */
/* The chunks between these offsets, into w's fresh memory, or its snapshots. */
bool file_load(const struct file *file, enum copy kind, struct workload *w, uint64_t from, uint64_t to);
void file_close(struct file *file);

/*
 * A data file. One that is made before the freeze has all of its pages, pinned: while the workload is frozen, its memory comes into
 * them at the speed of the bus, and needs no other memory. Without a save the file goes with its room.
 */
struct room {
    char path[4096]; /* empty: unused entry */
    int fd;
    uint8_t *map; /* NULL: not on a tmpfs */
    uint64_t bytes;
    bool pinned, saved;
};
bool room_make(const char *uuid, uint64_t bytes, const char *path);
struct room *room_of(const char *path);
void rooms_close(void);

/* Content that waits on a GPU for a process that does not exist yet. Reserved and loaded, then taken by the reload of that file. */
bool prefill_reserve(const char *uuid, uint64_t reserve, const char *path);
bool prefill_load(const char *path, uint64_t from, uint64_t to); /* as long as the agent is connected; up to UINT64_MAX: all, checked */
void prefill_take(struct file *file); /* if it is there, with its items' snapshots, which belong to the caller */
void prefills_close(void);

/* What it does until the processes have ended for which it worked. */
bool rest_until(pid_t pid, uint64_t start, bool waits); /* waits: there is nothing else for which it lives */
bool rest_begin(void); /* false: all have ended */
bool rest_end(void);
unsigned rest_of(struct pollfd *wait); /* what to wait for, and how many; 0: it does not rest */
bool rest_is_over(void);

/* What is done with a workload. */
extern struct workload workloads[MAX_WORKLOADS];
struct workload *workload_named(const char *name, bool make);
bool workload_export(struct workload *w);
bool workload_reload(struct workload *w, const char *path);
void workload_drop(struct workload *w);
bool workload_add(struct workload *w, const struct gate_entry *entry, int device, int fd); /* takes the descriptor */
const char *note_names(uint32_t notes), *state_name(uint32_t state), *result_name(int result);

/* The agent's commands: a line and its answer; the longest lists MAX_WORKLOADS. */
extern int agent;           /* its connection, or -1 */
extern bool ended, hang_up; /* what they ask of the loop */
extern bool following;      /* the next save tells the agent how far it is */
const char *obey(char *line);
bool add_bytes(uint64_t bytes); /* to the answer; returns true */
#endif
