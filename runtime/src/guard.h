/* guard: shared by its files. */
#ifndef STASIS_GUARD_H
#define STASIS_GUARD_H
#include "move.h"

/* Larger than the state of any known processor (AMX: 11 KiB). */
#define MOST_STATE 65536
/* criu writes a system call instruction and a name, 16 bytes in all. */
#define CODE 64

/* A thread before criu changed it. */
struct thread {
  pid_t tid;
  uint64_t mask;
  struct user_regs_struct regs;
  uint8_t *state; /* of the floating point and vector units */
  size_t state_size;
};
/* A range that the process may not read; criu makes it readable while it takes the pages. */
struct unreadable {
  uint64_t from, to;
  int protection;
};
/* An open descriptor. criu changes the peek offset of a socket. */
struct descriptor {
  int fd, peek; /* -1: the first byte that was not received yet, the default */
};
struct process {
  pid_t pid;
  uint64_t start;
  uint64_t pending; /* signals pending for the main thread only */
  uint64_t code_at; /* the bytes that criu overwrites; length 0 if there are none */
  uint8_t code[CODE];
  struct descriptor *fds;
  struct thread *threads;
  struct unreadable *unreadable;
  size_t fd_count, thread_count, unreadable_count;
  /* After a killed restore: its own call is in the main thread. criu's daemon was never continued,
   * so the process has not run since, and every other open descriptor is criu's. */
  bool injected, nothing_ran;
};
struct guard {
  int fd;
  char boot[64];
  struct process *processes;
  size_t count;
};

void guard_write(struct guard *guard, const char *path);
void guard_read(struct guard *guard, const char *path);
/* Records that the process has not run since, while that can still be determined. */
void guard_nothing_ran(const struct guard *guard, struct process *process);
/* Makes space for one more element at the end of an array. */
void *one_more(void *array, size_t count, size_t size);

void guard_save(struct guard *guard);
void guard_restore(struct guard *guard);

/* criu's mode for TCP connections, in which they neither send nor receive. */
void end_repair(int socket);

/* Whether the process still runs (a dead one needs nothing). */
bool runs(const struct process *process);
/* Waits until each thread is stopped and not traced; otherwise ends us with REFUSED. */
void await_stopped(const struct target *target);
/* Seizes a stopped thread, and releases it. */
void thread_seize(const struct target *target, pid_t tid);
void thread_release(pid_t tid);
/* Between the two: general registers, the signal mask, and the other registers. */
void thread_registers(pid_t tid, bool set, struct user_regs_struct *regs);
void thread_mask(pid_t tid, bool set, uint64_t *mask);
/* Each mapping of the program's own: line is from /proc/PID/maps, mode its permissions. */
void each_mapping(const struct target *target, void (*with)(void *context, uint64_t from, uint64_t to,
    const char *mode, const char *line), void *context);
/* Each descriptor of the process; where is the text of its link. */
void each_fd(const struct target *target, void (*with)(void *context, int fd, const char *where),
    void *context);
#endif
