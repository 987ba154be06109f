/* Runs system calls inside a stopped process.
 *
 * We may be killed at any moment. Every change (registers and signal mask of one thread) is
 * therefore recorded in the journal first, and the thread never leaves its group stop: when a
 * tracer dies, the kernel lets the thread fall back into it. Two consequences:
 * - PTRACE_SYSCALL, not PTRACE_SINGLESTEP: the trap of a step is a real SIGTRAP. It resets the
 *   program's handler while it is blocked, and it ends the program if the tracer dies before it is
 *   taken. Stops at system calls with PTRACE_O_TRACESYSGOOD leave nothing behind.
 * - Signals are blocked, not swallowed: they stay pending until the mask is restored.
 * What remains: a seccomp filter is suspended only while we live. If we are killed in the
 * microseconds between the entry of the call and its check, a filter that kills on madvise does
 * so. */
#include "move.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the registers of this processor are not known here"
#endif

/* Dropping a piece takes milliseconds; a thread that does not stop for this long never will (a
 * frozen cgroup, a failed disk). */
#define DEADLINE_SECONDS 30

static const struct target *target;
static struct journal *journal;
static struct saved saved;
static bool seized;

#ifdef STASIS_TEST_CRASH
void crash_point(void) {
  static long passed, at = -1;
  if (at < 0) at = getenv("STASIS_CRASH_AT") ? atol(getenv("STASIS_CRASH_AT")) : 0;
  if (__sync_add_and_fetch(&passed, 1) == at) kill(getpid(), SIGKILL);
}
#endif

/* The system call itself: not every libc's ptrace supports every request. */
static long trace(long request, uint64_t address, void *data) {
  crash_point();
  long result = syscall(SYS_ptrace, request, target->pid, address, data);
  crash_point();
  return result;
}

static void try_trace(long request, uint64_t address, void *data, const char *what) {
  if (trace(request, address, data))
    die_errno(errno == ESRCH ? GONE : REFUSED, "process %d: %s", target->pid, what);
}

static int wait_stop(void) {
  struct timespec now, end;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += DEADLINE_SECONDS;
  for (;;) {
    int status;
    pid_t pid = waitpid(target->pid, &status, __WALL | WNOHANG);
    if (pid < 0 || (pid && !WIFSTOPPED(status))) {
      seized = false;
      die(GONE, "process %d ended", target->pid);
    }
    if (pid) return status;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec >= end.tv_sec) {
      seized = false; /* it runs: nothing can be restored, the journal shows what is missing */
      die(REFUSED, "process %d did not stop within %d s", target->pid, DEADLINE_SECONDS);
    }
    sigtimedwait(&child, NULL, &(struct timespec){.tv_sec = end.tv_sec - now.tv_sec});
  }
}

static bool is_event(int status) { return status >> 16 == PTRACE_EVENT_STOP; }

static void registers(bool set, struct user_regs_struct *regs) {
  struct iovec io = {regs, sizeof *regs};
  if (set) try_trace(PTRACE_SETREGSET, NT_PRSTATUS, &io, "setting registers");
  else try_trace(PTRACE_GETREGSET, NT_PRSTATUS, &io, "reading registers");
  if (io.iov_len != sizeof *regs || regs->cs != 0x33)
    die(REFUSED, "process %d does not run 64-bit code", target->pid);
}

static void set_mask(uint64_t mask) {
  try_trace(PTRACE_SETSIGMASK, sizeof mask, &mask, "setting the signal mask");
}

static uint64_t find_in(uint64_t from, uint64_t to) {
  static uint8_t code[65536];
  for (uint64_t at = from; at + 1 < to; at += sizeof code - 1) {
    size_t n = to - at < sizeof code ? to - at : sizeof code;
    if (!target_copy(target, false, at, code, n)) return 0;
    uint8_t *found = memmem(code, n, "\x0f\x05", 2);
    if (found) return at + (uint64_t)(found - code);
  }
  return 0;
}

/* A syscall instruction of the target: in its vdso, else in any of its code. */
static uint64_t find_syscall(void) {
  for (int any = 0; any < 2; any++) {
    int fd = openat(target->proc, "maps", O_RDONLY | O_CLOEXEC);
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    char line[4500];
    uint64_t at = 0;
    while (maps && !at && fgets(line, sizeof line, maps)) {
      unsigned long from, to;
      char mode[8];
      if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && mode[0] == 'r' && mode[2] == 'x'
          && (any || strstr(line, "[vdso]")))
        at = find_in(from, to);
    }
    if (maps) fclose(maps);
    if (at) return at;
  }
  die(REFUSED, "process %d: no syscall instruction in its code", target->pid);
}

/* Inside a restartable sequence the kernel would forget to restart it, because it would see our
 * address, not the thread's. */
static void refuse_restartable_sequence(const struct user_regs_struct *regs) {
  struct { uint64_t address; uint32_t size, signature, flags, pad; } config;
  struct { uint32_t version, flags; uint64_t start, length, abort; } section;
  uint64_t pointer;
  if (trace(PTRACE_GET_RSEQ_CONFIGURATION, sizeof config, &config) != sizeof config || !config.address)
    return;
  if (!target_copy(target, false, config.address + 8, &pointer, 8) || !pointer) return;
  if (target_copy(target, false, pointer, &section, sizeof section)
      && regs->rip - section.start < section.length)
    die(REFUSED, "process %d is inside a restartable sequence", target->pid);
}

static void seize(void) {
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_SUSPEND_SECCOMP;
  if (trace(PTRACE_SEIZE, 0, (void *)options)) {
    /* Without the right to suspend seccomp, a process without a filter can still be handled. */
    if (errno != EPERM || target_status(target, "status", "Seccomp:", 10)
        || trace(PTRACE_SEIZE, 0, (void *)PTRACE_O_TRACESYSGOOD))
      die_errno(errno == ESRCH ? GONE : REFUSED, "process %d cannot be traced", target->pid);
  }
  seized = true;
  before_dying = inject_end;
  try_trace(PTRACE_INTERRUPT, 0, NULL, "interrupting");
  int status = wait_stop();
  if (!is_event(status) || WSTOPSIG(status) == SIGTRAP)
    die(REFUSED, "process %d was not stopped", target->pid);
}

/* Fields that an injection may have changed are made equal; the others show whether the thread has
 * run. */
static void unchanged_part(struct user_regs_struct *r) {
  r->rip = r->rax = r->orig_rax = r->rdi = r->rsi = r->rdx = r->r10 = r->rcx = r->r11 = r->eflags = 0;
}

/* A predecessor died with our registers in the thread. That is only the case while the thread is
 * where an injection leaves it; otherwise it has continued and is not touched. */
static void repair(void) {
  struct user_regs_struct now, then = journal->saved.regs;
  if (!journal->saved.open) return;
  registers(false, &now);
  uint64_t at = journal->saved.at;
  bool there = now.rip == at || now.rip == at + 2 || now.rip == then.rip;
  unchanged_part(&now);
  unchanged_part(&then);
  if (!there || journal->saved.tid != target->pid || memcmp(&now, &then, sizeof now))
    die(REFUSED, "process %d is not where the journal says that it was left", target->pid);
  saved = journal->saved;
}

static void put_back(void) {
  if (!saved.open) return;
  registers(true, &saved.regs);
  set_mask(saved.mask);
  journal_unsaved(journal);
  saved.open = false;
}

void inject_begin(const struct target *t, struct journal *j) {
  target = t;
  journal = j;
  seize();
  repair();
  put_back();
  target_check_same(t);
  target_check_stopped(t, true);
}

static void save(void) {
  saved = (struct saved){.tid = target->pid, .at = find_syscall()};
  registers(false, &saved.regs);
  refuse_restartable_sequence(&saved.regs);
  try_trace(PTRACE_GETSIGMASK, sizeof saved.mask, &saved.mask, "reading the signal mask");
  journal_saved(journal, &saved);
  saved.open = true;
  set_mask(~0ull);
}

long inject_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  if (!saved.open) save();
  struct user_regs_struct regs = saved.regs;
  regs.rip = saved.at;
  regs.rax = (uint64_t)number;
  regs.orig_rax = ~0ull; /* not in a system call: nothing is restarted */
  regs.rdi = a, regs.rsi = b, regs.rdx = c, regs.r10 = d;
  registers(true, &regs);
  bool entered = false;
  for (long deliver = 0;;) {
    try_trace(PTRACE_SYSCALL, 0, (void *)deliver, "going on");
    int status = wait_stop();
    deliver = 0;
    if (is_event(status)) {
      if (!entered && WSTOPSIG(status) == SIGTRAP)
        die(REFUSED, "process %d was continued by somebody", target->pid);
      continue;
    }
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
      deliver = WSTOPSIG(status); /* only what cannot be blocked: STOP */
      continue;
    }
    registers(false, &regs);
    if (regs.rip != saved.at + 2 || regs.orig_rax != (uint64_t)number)
      die(REFUSED, "process %d went astray", target->pid);
    if (entered) return (long)regs.rax;
    entered = true;
  }
}

void inject_end(void) {
  if (!seized) return;
  put_back();
  seized = false;
  before_dying = NULL;
  trace(PTRACE_DETACH, 0, NULL);
  /* It falls back into its stop by itself; our caller must find it stopped. The kernel has no
   * event for that: polled each millisecond, for a second at most. */
  char state = 't';
  uint64_t start;
  for (int i = 0; i < 1000 && read_stat(target->proc, "stat", &state, &start) && state != 'T'; i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
