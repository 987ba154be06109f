/* move: shared by its files. Everything except the crew runs in the main thread, which is the only
 * one that may trace. */
#ifndef STASIS_MOVE_H
#define STASIS_MOVE_H
#include "stasis.h"

#include <sys/user.h>

/* Exit codes of move. */
enum { GONE = 3, BAD_STAGE = 4, NO_ROOM = 5, REFUSED = 6, SYSTEM = 7 };

#define CHUNK (8u << 20)
#define PAGE 4096u

/* In the test build, ends us with SIGKILL at the n-th crash point that is passed
 * (STASIS_CRASH_AT=n). */
#ifdef STASIS_TEST_CRASH
void crash_point(void);
#else
#define crash_point() ((void)0)
#endif

struct options {
  pid_t pid;
  uint64_t start, piece;
  const char *regions, *stage, *journal, *not_huge;
  unsigned threads;
  bool no_drop, punch, huge, sha256;
};
/* Which signals may end us, and when. */
void move_signals(void);
int move_out(const struct options *options);
int move_in(const struct options *options);

/* The process that owns the memory: the folder is bound to it, even if its pid is reused. */
struct target {
  pid_t pid;
  uint64_t start;
  int pidfd, proc, pagemap;
};
/* Ends us with GONE if the process is gone or has another start time. */
void target_open(struct target *target, pid_t pid, uint64_t start);
void target_close(struct target *target);
void target_check_same(const struct target *target);
/* Ends us with REFUSED unless each thread is stopped; with ours, we trace the main thread. */
void target_check_stopped(const struct target *target, bool ours);
/* The number in a line of /proc/PID/status, such as "TracerPid:". */
uint64_t target_status(const struct target *target, const char *file, const char *key, int base);
/* How many bytes of the range are populated or swapped; *from is moved to the first of them.
 * UINT64_MAX with errno if that cannot be read. */
uint64_t target_resident(const struct target *target, uint64_t *from, uint64_t end);
/* Copies between us and the target: false with errno if not every byte was copied. */
bool target_copy(const struct target *target, bool write, uint64_t address, void *buffer, size_t length);

struct chunk {
  uint64_t address, length, offset;
  uint32_t crc;
  bool known, zero, has_sha, laned, missing, filled, not_huge; /* laned: sha is of sixteen lanes */
  uint8_t sha[32];
};
/* The state of a thread before an injection changes it. */
struct saved {
  bool open;
  pid_t tid;
  uint64_t mask, at;
  struct user_regs_struct regs;
};
struct journal {
  int fd;
  uint64_t pid, start;
  char boot[64], stage[4096];
  struct chunk *chunks;
  size_t count;
  struct saved saved;
};
void journal_create(struct journal *journal, const struct options *options);
/* Reads a journal, truncates a torn last line, and prepares to append. Without a complete first
 * line it belongs to no process (pid 0): nothing was dropped. */
void journal_open(struct journal *journal, const char *path);
/* Appends whole lines: false with errno. Thread-safe. */
bool journal_append(const struct journal *journal, const char *lines, size_t length);
size_t journal_chunk_line(char *line, size_t size, size_t index, const struct chunk *chunk);
void journal_saved(struct journal *journal, const struct saved *saved);
void journal_unsaved(struct journal *journal);

/* Seizes the main thread of a stopped target, and first restores what a dead predecessor changed. */
void inject_begin(const struct target *target, struct journal *journal);
/* Runs one system call in the target and returns its result. */
long inject_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Restores everything and detaches; the thread is stopped as it was before. */
void inject_end(void);

uint32_t crc32c(uint32_t crc, const void *data, size_t length);
void sha256(const void *data, size_t length, uint8_t digest[32]);
/* The same in parts: whole blocks of 64 bytes, and at the end the remainder, or nothing. */
struct sha256 {
  uint32_t state[8];
  uint64_t length;
};
extern const uint32_t sha256_k[64];
void sha256_begin(struct sha256 *sum);
void sha256_blocks(struct sha256 *sum, const void *data, size_t length);
/* Of two messages at once: blocks with this distance in bytes. */
void sha256_pair(uint32_t *const state[2], const uint8_t *const data[2], size_t blocks, size_t stride);
void sha256_end(struct sha256 *sum, const void *tail, size_t length, uint8_t digest[32]);

/* The current digest of a chunk; those of format 1 have one SHA-256. Whole rows: 1024 bytes. */
#define LANES 16
struct lanes {
  uint32_t state[8][LANES];
  uint64_t length;
};
void lanes_begin(struct lanes *lanes);
void lanes_rows(struct lanes *lanes, const void *data, size_t length);
void lanes_end(const struct lanes *lanes, uint8_t digest[32]);

/* The copying threads. They take items below limit in order and never end the process: the first
 * error is recorded, and the main thread handles it. */
struct crew;
struct crew *crew_start(unsigned threads, size_t items, size_t limit, uint64_t bytes,
    void (*work)(struct crew *, size_t));
void crew_done(struct crew *crew, uint64_t bytes);
void crew_fail(struct crew *crew, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void crew_raise(struct crew *crew, size_t limit);
/* Waits until the first n items are done, and prints progress; ends us if the crew failed or we
 * are asked to end (TERM, INT). */
void crew_wait(struct crew *crew, size_t n);
void crew_end(struct crew *crew);
#endif
