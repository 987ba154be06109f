/* libstasis-gate.so: what its parts share. docs/direct-path.md is the contract. */
#ifndef STASIS_GATE_H
#define STASIS_GATE_H
#define _GNU_SOURCE
#include "common.h"
#include "driver.h"

#include <pthread.h>
#include <string.h>

/* The gate: calls of the program pass it; while it is closed they wait in front of it. */
/* 0 once no thread is inside; -ETIMEDOUT or another negative errno with the gate open again. */
int gate_close(int64_t deadline_ms);
void gate_open(void);
bool gate_is_closed(void);
void gate_after_fork(void);
int64_t now_ms(void);
void nap_us(long microseconds);
void futex_wait(uint32_t *word, uint32_t value, long timeout_ms); /* 0: without a limit */
void futex_wake(uint32_t *word);

/* A function of the driver that is answered by one of ours, which runs inside the gate. All of them are in one section. */
struct hook {
    const char *name;
    void *function, *real; /* real: a pointer variable */
    bool old;              /* a name of older drivers for a function that has one of its own */
};
#define HOOK_ENTRY(name, function, old) \
    static const struct hook entry_##name __attribute__((section("hooks"), used)) = {#name, (void *)hook_##function, &real_##function, old};
/* Begins the definition of what answers the function; the driver's own is `real_NAME`. */
#define HOOK(name, arguments) \
    static CUresult(*real_##name) arguments; \
    static CUresult hook_##name arguments; \
    HOOK_ENTRY(name, name, false) \
    static CUresult hook_##name arguments
void driver_open(void);

/* What the program did that pins memory or that the library cannot follow (protocol.h). */
void note(uint32_t flag);
/* Contexts that the program created itself; primary ones are asked of the driver. */
enum { MAX_CONTEXTS = 64, MAX_DEVICES = 32 };
void contexts_synchronize(int *result);
int capture_count(void);
void knowledge_after_fork(void);

/* The table of memory that the library owns. The lock is held only inside the gate, so a drained gate means a free lock. */
enum { MAX_BLOCKS = 1 << 16, GRANULE = 2 << 20 };
/* AWAY: without memory. MADE: has memory again, without its content. FILLING: the same, and in the batch that the keeper fills now. */
enum block_state { BLOCK_FREE, BLOCK_HERE, BLOCK_AWAY, BLOCK_MADE, BLOCK_FILLING };
struct block {
    uint64_t handle, bytes;
    void *context; /* in which it was made; its death takes memory of cuMemAlloc along */
    CUmemAllocationProp prop;
    uint32_t state, refs, maps;
    uint32_t mapping; /* the last one that was made */
    bool plain; /* made for cuMemAlloc: its address is ours too */
};
struct mapping {
    uint64_t address, bytes, offset; /* address 0: unused entry */
    uint32_t block, read_write, read_only; /* devices with access, a bit each */
    bool late; /* freed during a capture; the memory goes after it */
};
extern struct block blocks[MAX_BLOCKS];
extern struct mapping mappings[MAX_BLOCKS];
extern uint32_t block_limit, mapping_limit; /* entries beyond were never used */
extern uint32_t late_mappings;
void table_lock(void), table_unlock(void), table_after_fork(void);
struct block *block_new(uint64_t handle, uint64_t bytes, const CUmemAllocationProp *prop);
struct mapping *mapping_new(uint64_t address, uint64_t bytes, uint64_t offset, struct block *block);
CUresult mapping_allow(const struct mapping *mapping);
void mapping_end(struct mapping *mapping);
/* Gives the memory back once it has neither mapping nor reference. */
CUresult block_end(struct block *block);
void plain_end(struct mapping *mapping);
bool has_plain(const void *context);
void context_died(const void *context);
CUresult wait_for(void *context);
uint32_t peers_of(int device);
void peer_allow(int owner, int user);
void table_publish(void); /* for readers of the page, who need not ask */

/* Moving it: the gate is closed and drained. Each gives the driver's result. */
CUresult move_export(uint32_t first, struct gate_reply *reply, int *fds);
CUresult move_unload(void);
CUresult move_reload(uint64_t window, struct gate_reply *reply, int *fds);
void move_filled(enum block_state state); /* what the last batch is from now on */
uint32_t move_away(void); /* blocks whose content is not here */

bool room_is_made(int64_t *until); /* after an allocation that failed; *until is 0 at first */

/* The control thread, begun with the first context. */
void control_start(void), control_after_fork(void);
extern struct gate_page *page;
#endif
