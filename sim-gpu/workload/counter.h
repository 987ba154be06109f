/* gpu-counter: a small GPU program whose every step can be checked from its output. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK = 1 << 20, WORDS = CHUNK / 8, FULL_CHECK_EVERY = 16 };

struct options {
    long mib, interval_ms, threads, port, forks, steps, device, kernel_ms, from;
    const char *file, *verify, *odd, *link;
    long ballast;
    int idle_child, loader, loopback, own_address, io_uring, shm, deleted_file, managed, churn, busy_writer, peer, nccl, launcher;
};

/* The content of a chunk after a step, and the digest of what was read back. */
void pattern_fill(uint64_t *words, uint64_t step, uint64_t chunk);
/* 1 if every word is as pattern_fill writes it. */
int pattern_holds(const uint64_t *words, uint64_t step, uint64_t chunk);
/* The same for count words from first on, of a chunk of any size. */
void pattern_fill_part(uint64_t *words, uint64_t step, uint64_t chunk, uint64_t first, uint64_t count);
int pattern_part_holds(const uint64_t *words, uint64_t step, uint64_t chunk, uint64_t first, uint64_t count);
uint64_t pattern_digest(const uint64_t *words, uint64_t seed);
/* The sum that step prints if everything is right. */
uint64_t pattern_sum(uint64_t step, uint64_t chunks);
/* Reads a log of lines "step N sum X ok": 0 if N counts from the first without gap or repetition
 * and every sum is right. */
int verify_log(const char *path, uint64_t chunks, uint64_t first);

/* The driver, opened at run time. Any failure except a wrong value ends the program with code 3. */
void device_open(long ordinal);
void device_use(void); /* for another thread */
uint64_t device_allocate(size_t bytes);
uint64_t device_allocate_managed(size_t bytes);
void device_write(uint64_t to, const void *from, size_t bytes);
void device_read(void *to, uint64_t from, size_t bytes);
void device_set(uint64_t at, unsigned char value, size_t bytes);
void device_share(uint64_t address);
void device_join(uint64_t address, int ranks); /* as NCCL does with its peers */
void device_segment(void);
void device_init(void); /* as a launcher that only counts the GPUs */
void device_spin(long milliseconds); /* a long kernel; the simulated driver only */

/* A buffer of chunks on the device, one rewritten each step. */
struct buffer {
    uint64_t address, chunks;
    uint64_t *last;  /* for each chunk, the step that wrote it */
    uint64_t *words; /* CHUNK bytes */
};
void buffer_make(struct buffer *buffer, uint64_t chunks, int managed);
/* One step; 1 if everything that it read was right. */
int buffer_step(struct buffer *buffer, uint64_t step, uint64_t *sum);
int buffer_check(struct buffer *buffer);

/* Other activity of the program. Each part reports its own errors. */
extern atomic_ulong counter; /* the finished step */
void bad(const char *what);  /* prints it and ends the process with 1 */
void company_start(const struct options *options);
int company_check(uint64_t step, int full);
void company_end(void);
void link_start(const char *kind); /* before a fork: pipe, unix, tcp or shm between the two */
void link_keep(int child);
void server_start(long port);
void address_start(void);
void address_check(uint64_t step);
void ring_start(void);
void ring_check(uint64_t step);
int ring_odd(const char *kind);

/* Opens or makes what the kernel keeps between processes; ipc_forget removes what outlives its maker. */
int ipc_odd(const char *kind);
int ipc_object(const char *kind);
int ipc_attach(const char *unused);
void ipc_forget(void);
void odd_start(const char *path);
void churn_start(void);
void churn_check(void);

#endif
