/* guard restore: restores what a killed criu left behind.
 *
 * When criu ends, the kernel lets its threads fall back into their group stop. One thread of each
 * process may have continued first: it finds criu's socket closed, restores its own registers by
 * sigreturn and runs until the kernel has detached it. A thread is therefore given its old
 * registers only if it still belongs to criu: it has criu's signal mask, or is in criu's code. All
 * other threads are already correct. */
#include "guard.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BIT(signal) (1ull << ((signal) - 1))
/* criu blocks all except this one; the kernel never blocks the other two. */
#define OUR_MASK (~(BIT(SIGKILL) | BIT(SIGSTOP)))
#define CRIUS_MASK (OUR_MASK & ~BIT(SIGTRAP))
#define CRIUS_NAME "/memfd:CRIUMFD"
#define MOST_MAPPINGS 64

static struct guard *guard;
static struct process *process;
static struct target target;
/* criu's own mappings: as many as it has protections, for each criu that was killed. */
static struct { uint64_t from, to; } foreign[MOST_MAPPINGS];
static size_t foreign_count;
static uint64_t scratch; /* a writable one of them */

static void look_for_foreign(void *context, uint64_t from, uint64_t to, const char *mode, const char *line) {
  (void)context;
  if (foreign_count == MOST_MAPPINGS || !strstr(line, CRIUS_NAME " (deleted)\n")) return;
  if (mode[1] == 'w') scratch = from;
  foreign[foreign_count].from = from;
  foreign[foreign_count++].to = to;
}

static void find_foreign(void) {
  foreign_count = scratch = 0;
  each_mapping(&target, look_for_foreign, NULL);
}

static bool at_crius_code(uint64_t rip) {
  for (size_t i = 0; i < foreign_count; i++)
    if (rip >= foreign[i].from && rip < foreign[i].to) return true;
  return process->code_at && rip - process->code_at <= 8;
}

static void must(long result, pid_t tid, const char *what) {
  crash_point();
  if (result) die_errno(errno == ESRCH ? GONE : REFUSED, "thread %d: %s", tid, what);
}

/* The mask last: until then the thread is recognized as criu's, if we are killed. */
static void restore_registers(struct thread *thread) {
  struct iovec io = {thread->state, thread->state_size};
  thread_registers(thread->tid, true, &thread->regs);
  must(syscall(SYS_ptrace, PTRACE_SETREGSET, thread->tid, NT_X86_XSTATE, &io), thread->tid, "vector registers");
  /* An older criu sets a breakpoint in its code. */
  must(syscall(SYS_ptrace, PTRACE_POKEUSER, thread->tid, offsetof(struct user, u_debugreg[7]), 0), thread->tid,
      "debug registers");
  thread_mask(thread->tid, true, &thread->mask);
}

static void restore_thread(struct thread *thread) {
  struct user_regs_struct now;
  uint64_t mask;
  thread_seize(&target, thread->tid);
  thread_registers(thread->tid, false, &now);
  thread_mask(thread->tid, false, &mask);
  bool crius = (mask == CRIUS_MASK && thread->mask != CRIUS_MASK) || at_crius_code(now.rip);
  bool leader = thread->tid == process->pid, ours = leader && process->injected && mask == OUR_MASK;
  if (leader && crius && !process->nothing_ran) guard_nothing_ran(guard, process);
  if (crius || ours) restore_registers(thread);
  thread_release(thread->tid);
}

static void restore_code(void) {
  uint8_t now[CODE];
  int memory = openat(target.proc, "mem", O_RDWR | O_CLOEXEC);
  if (memory < 0) die_errno(REFUSED, "process %d: mem", process->pid);
  if (process->code_at) {
    if (pread(memory, now, CODE, (off_t)process->code_at) != CODE)
      die_errno(REFUSED, "process %d: code at %lx", process->pid, process->code_at);
    /* Only if changed: a write copies a page of the file. */
    if (memcmp(now, process->code, CODE)
        && pwrite(memory, process->code, CODE, (off_t)process->code_at) != CODE)
      die_errno(REFUSED, "process %d: code at %lx", process->pid, process->code_at);
  }
  close(memory);
}

/* criu disconnects sockets from their peers while it reads them, and moves the peek offset of a
 * queue. */
static void calm_socket(const struct descriptor *was) {
  int copy = (int)syscall(SYS_pidfd_getfd, target.pidfd, was->fd, 0), peek = -1;
  socklen_t size = sizeof peek;
  if (copy < 0) return;
  end_repair(copy);
  if (!getsockopt(copy, SOL_SOCKET, SO_PEEK_OFF, &peek, &size) && peek != was->peek)
    setsockopt(copy, SOL_SOCKET, SO_PEEK_OFF, &was->peek, sizeof was->peek);
  close(copy);
}

struct leftovers {
  int *fds;
  size_t count;
};

static void look_at_fd(void *context, int fd, const char *where) {
  struct leftovers *left = context;
  const struct descriptor *known = NULL;
  for (size_t i = 0; i < process->fd_count && !known; i++)
    if (process->fds[i].fd == fd) known = &process->fds[i];
  if (!strncmp(where, "socket:", 7) && known) calm_socket(known);
  if (known || (!process->nothing_ran && strncmp(where, CRIUS_NAME, strlen(CRIUS_NAME)))) return;
  left->fds = one_more(left->fds, left->count, sizeof *left->fds);
  left->fds[left->count++] = fd;
}

/* criu's daemon wrote to a socket and a pipe that broke with criu's death, and to a log that is
 * subject to the program's file size limit. The kernel's signals for that would end the program as
 * soon as it has its own mask. They are pending for the main thread; signals from other processes
 * stay pending for the process. */
static uint64_t of_crius_making(void) {
  uint64_t now = target_status(&target, "status", "SigPnd:", 16);
  return process->nothing_ran && scratch ? now & ~process->pending & (BIT(SIGPIPE) | BIT(SIGXFSZ)) : 0;
}

static void take_back(uint64_t signal) {
  struct { uint64_t set; struct timespec now; } args = {.set = signal};
  if (!signal) return;
  if (!target_copy(&target, true, scratch, &args, sizeof args))
    die_errno(REFUSED, "process %d: criu's data at %lx", process->pid, scratch);
  inject_call(SYS_rt_sigtimedwait, scratch, 0, scratch + offsetof(typeof(args), now), sizeof args.set);
}

/* The ranges that criu made readable; if its daemon continued, it has restored them itself. */
static void look_at_mapping(void *context, uint64_t from, uint64_t to, const char *mode, const char *line) {
  bool *readable = context;
  (void)line;
  for (size_t i = 0; mode[0] == 'r' && i < process->unreadable_count; i++)
    if (process->unreadable[i].from < to && from < process->unreadable[i].to) readable[i] = true;
}

static void hide_again(const struct unreadable *range) {
  if (inject_call(SYS_mprotect, range->from, range->to - range->from, (uint64_t)range->protection, 0))
    die(REFUSED, "process %d: %lx cannot be protected again", process->pid, range->from);
}

static void clear_away(void) {
  struct leftovers left = {0};
  struct journal journal = {.fd = guard->fd};
  bool *readable = calloc(process->unreadable_count + 1, 1), any = false;
  if (!readable) die_errno(SYSTEM, "memory");
  if (process->nothing_ran) each_mapping(&target, look_at_mapping, readable);
  for (size_t i = 0; i < process->unreadable_count; i++) any |= readable[i];
  each_fd(&target, look_at_fd, &left);
  if (left.count || foreign_count || any) {
    inject_begin(&target, &journal);
    take_back(of_crius_making() & BIT(SIGPIPE));
    take_back(of_crius_making() & BIT(SIGXFSZ));
    for (size_t i = 0; i < process->unreadable_count; i++)
      if (readable[i]) hide_again(&process->unreadable[i]);
    for (size_t i = 0; i < left.count; i++) inject_call(SYS_close, (uint64_t)left.fds[i], 0, 0, 0);
    for (size_t i = 0; i < foreign_count; i++)
      if (inject_call(SYS_munmap, foreign[i].from, foreign[i].to - foreign[i].from, 0, 0))
        die(REFUSED, "process %d: criu's code cannot be taken away", process->pid);
    inject_end();
  }
  free(left.fds);
  free(readable);
}

void guard_restore(struct guard *g) {
  guard = g;
  for (size_t i = 0; i < guard->count; i++) {
    process = &guard->processes[i];
    if (!runs(process)) continue;
    target_open(&target, process->pid, process->start);
    await_stopped(&target);
    find_foreign();
    restore_code();
    for (size_t k = 0; k < process->thread_count; k++) restore_thread(&process->threads[k]);
    await_stopped(&target);
    clear_away();
    await_stopped(&target);
    target_close(&target);
  }
}
