/* guard: records what criu changes in the processes that it dumps, and restores it after criu was
 * killed. criu runs its own code in the threads: meanwhile they have its registers and its signal
 * mask, some bytes of the program are overwritten, and criu's code is mapped. If criu is killed
 * then (out of memory, by a user, at a deadline), all of that remains.
 *
 * save: the processes are stopped and stay stopped; nothing is changed.
 * calm: after a successful dump. criu leaves TCP connections in repair mode when it leaves the
 * processes stopped: every recv would fail with EPERM, and nothing that is sent would leave. */
#include "guard.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ptrace.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A stopped thread responds in microseconds; after criu's death it may first have to leave a
 * system call. The limit is for a busy machine; a thread that exceeds it does not respond at all. */
#define DEADLINE_MILLISECONDS 10000

/* A millisecond or two: a sleep for each thread would freeze the program for a millisecond more for each of them. */
#define LOOKS_BEFORE_NAP 2000

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

void *one_more(void *array, size_t count, size_t size) {
  if (count & (count - 1) || (count && count < 8)) return array; /* space for 8, 16, 32, ... */
  array = realloc(array, (count ? count * 2 : 8) * size);
  if (!array) die_errno(SYSTEM, "memory");
  return array;
}

bool runs(const struct process *p) {
  char path[32], state;
  uint64_t start;
  snprintf(path, sizeof path, "/proc/%d/stat", p->pid);
  return read_stat(AT_FDCWD, path, &state, &start) && start == p->start && state != 'Z' && state != 'X';
}

static bool all_stopped(const struct target *t, char *which, size_t size) {
  int fd = openat(t->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
  bool all = true;
  if (!tasks) die_errno(GONE, "process %d", t->pid);
  for (struct dirent *e; all && (e = readdir(tasks));) {
    char name[300], state;
    uint64_t start, tracer;
    if (*e->d_name == '.') continue;
    snprintf(name, sizeof name, "task/%s/stat", e->d_name);
    if (!read_stat(t->proc, name, &state, &start) || state == 'Z' || state == 'X') continue;
    snprintf(name, sizeof name, "task/%s/status", e->d_name);
    tracer = target_status(t, name, "TracerPid:", 10);
    all = state == 'T' && !tracer;
    if (!all) snprintf(which, size, "thread %s in state %c, traced by %lu", e->d_name, state, tracer);
  }
  closedir(tasks);
  return all;
}

void await_stopped(const struct target *t) {
  char which[320];
  /* The kernel reports a stop only to the tracer and the parent: polled each millisecond. */
  for (int i = 0; !all_stopped(t, which, sizeof which); i++) {
    if (i == DEADLINE_MILLISECONDS)
      die(REFUSED, "process %d: expected every thread stopped and traced by nobody, got %s", t->pid, which);
    nap();
  }
}

static void must(long result, pid_t tid, const char *what) {
  crash_point();
  if (result) die_errno(errno == ESRCH ? GONE : REFUSED, "thread %d: %s", tid, what);
}

void thread_seize(const struct target *t, pid_t tid) {
  int status;
  must(syscall(SYS_ptrace, PTRACE_SEIZE, tid, 0, 0), tid, "cannot be traced");
  must(syscall(SYS_ptrace, PTRACE_INTERRUPT, tid, 0, 0), tid, "interrupting");
  for (int i = 0;; i++) {
    pid_t pid = waitpid(tid, &status, __WALL | WNOHANG);
    if (pid < 0 || (pid && !WIFSTOPPED(status))) die(GONE, "process %d: thread %d ended", t->pid, tid);
    if (pid) break;
    if (i == LOOKS_BEFORE_NAP + DEADLINE_MILLISECONDS) die(REFUSED, "process %d: thread %d does not stop", t->pid, tid);
    if (i < LOOKS_BEFORE_NAP) sched_yield();
    else nap();
  }
  if (status >> 16 != PTRACE_EVENT_STOP || WSTOPSIG(status) == SIGTRAP)
    die(REFUSED, "process %d: expected thread %d stopped by a signal, got it running", t->pid, tid);
}

void thread_release(pid_t tid) { syscall(SYS_ptrace, PTRACE_DETACH, tid, 0, 0); }

void thread_registers(pid_t tid, bool set, struct user_regs_struct *regs) {
  struct iovec io = {regs, sizeof *regs};
  must(syscall(SYS_ptrace, set ? PTRACE_SETREGSET : PTRACE_GETREGSET, tid, NT_PRSTATUS, &io), tid,
      "registers");
  if (io.iov_len != sizeof *regs) die(REFUSED, "thread %d does not run 64-bit code", tid);
}

void thread_mask(pid_t tid, bool set, uint64_t *mask) {
  must(syscall(SYS_ptrace, set ? PTRACE_SETSIGMASK : PTRACE_GETSIGMASK, tid, sizeof *mask, mask), tid,
      "signal mask");
}

/* criu ends a restartable sequence and clears the kernel's reference to it: the address at which
 * it would have continued is always correct. */
static void end_restartable_sequence(const struct target *t, struct thread *thread) {
  struct { uint64_t address; uint32_t size, signature, flags, pad; } config;
  struct { uint32_t version, flags; uint64_t start, length, abort; } section;
  uint64_t pointer;
  if (syscall(SYS_ptrace, PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, sizeof config, &config)
      != sizeof config || !config.address)
    return;
  if (target_copy(t, false, config.address + 8, &pointer, 8) && pointer
      && target_copy(t, false, pointer, &section, sizeof section)
      && thread->regs.rip - section.start < section.length)
    thread->regs.rip = section.abort;
}

static void save_thread(const struct target *t, struct thread *thread) {
  static uint8_t state[MOST_STATE];
  struct iovec io = {state, sizeof state};
  thread_seize(t, thread->tid);
  thread_registers(thread->tid, false, &thread->regs);
  thread_mask(thread->tid, false, &thread->mask);
  must(syscall(SYS_ptrace, PTRACE_GETREGSET, thread->tid, NT_X86_XSTATE, &io), thread->tid, "vector registers");
  end_restartable_sequence(t, thread);
  thread_release(thread->tid);
  thread->state_size = io.iov_len;
  thread->state = malloc(io.iov_len);
  if (!thread->state) die_errno(SYSTEM, "memory");
  memcpy(thread->state, state, io.iov_len);
}

static void save_threads(const struct target *t, struct process *p) {
  int fd = openat(t->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
  if (!tasks) die_errno(GONE, "process %d", t->pid);
  for (struct dirent *e; (e = readdir(tasks));) {
    char name[300], state;
    uint64_t start;
    if (*e->d_name == '.') continue;
    snprintf(name, sizeof name, "task/%s/stat", e->d_name);
    if (!read_stat(t->proc, name, &state, &start) || state == 'Z' || state == 'X') continue;
    p->threads = one_more(p->threads, p->thread_count, sizeof *p->threads);
    struct thread *thread = &p->threads[p->thread_count++];
    *thread = (struct thread){.tid = atoi(e->d_name)};
    save_thread(t, thread);
  }
  closedir(tasks);
}

void each_fd(const struct target *t, void (*with)(void *, int, const char *), void *context) {
  int dir = openat(t->proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *fds = dir < 0 ? NULL : fdopendir(dir);
  if (!fds) die_errno(GONE, "process %d", t->pid);
  for (struct dirent *e; (e = readdir(fds));) {
    char where[PATH_MAX];
    if (*e->d_name == '.') continue;
    ssize_t n = readlinkat(dir, e->d_name, where, sizeof where - 1);
    where[n > 0 ? n : 0] = 0;
    with(context, atoi(e->d_name), where);
  }
  closedir(fds);
}

struct saving {
  const struct target *target;
  struct process *process;
};

static void save_fd(void *context, int fd, const char *where) {
  struct saving *saving = context;
  struct process *p = saving->process;
  struct descriptor one = {fd, -1};
  int copy = strncmp(where, "socket:", 7) ? -1 : (int)syscall(SYS_pidfd_getfd, saving->target->pidfd, fd, 0);
  socklen_t size = sizeof one.peek;
  if (copy >= 0 && getsockopt(copy, SOL_SOCKET, SO_PEEK_OFF, &one.peek, &size)) one.peek = -1;
  if (copy >= 0) close(copy);
  p->fds = one_more(p->fds, p->fd_count, sizeof *p->fds);
  p->fds[p->fd_count++] = one;
}

void each_mapping(const struct target *t, void (*with)(void *, uint64_t, uint64_t, const char *, const char *),
    void *context) {
  int fd = openat(t->proc, "maps", O_RDONLY | O_CLOEXEC);
  FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
  char line[4500], mode[8];
  unsigned long from, to;
  if (!maps) die_errno(GONE, "process %d: maps", t->pid);
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && from < 1ul << 63) with(context, from, to, mode, line);
  fclose(maps);
}

static void save_mapping(void *context, uint64_t from, uint64_t to, const char *mode, const char *line) {
  struct process *p = context;
  (void)line;
  /* criu's choice: the start of the first executable mapping of at least a page. */
  if (!p->code_at && mode[2] == 'x' && to - from >= PAGE) p->code_at = from;
  if (mode[0] == 'r' || mode[3] != 'p') return;
  int protection = (mode[1] == 'w' ? PROT_WRITE : 0) | (mode[2] == 'x' ? PROT_EXEC : 0);
  p->unreadable = one_more(p->unreadable, p->unreadable_count, sizeof *p->unreadable);
  p->unreadable[p->unreadable_count++] = (struct unreadable){from, to, protection};
}

static void save_mappings(const struct target *t, struct process *p) {
  each_mapping(t, save_mapping, p);
  int memory = openat(t->proc, "mem", O_RDONLY | O_CLOEXEC);
  if (p->code_at && (memory < 0 || pread(memory, p->code, CODE, (off_t)p->code_at) != CODE))
    die_errno(REFUSED, "process %d: code at %lx", t->pid, p->code_at);
  close(memory);
}

void guard_save(struct guard *guard) {
  for (size_t i = 0; i < guard->count; i++) {
    struct process *p = &guard->processes[i];
    struct target target;
    target_open(&target, p->pid, p->start);
    await_stopped(&target);
    save_threads(&target, p);
    p->pending = target_status(&target, "status", "SigPnd:", 16);
    save_mappings(&target, p);
    each_fd(&target, save_fd, &(struct saving){&target, p});
    await_stopped(&target);
    target_close(&target);
  }
}

static void calm_fd(void *context, int fd, const char *where) {
  const struct target *target = context;
  int copy = strncmp(where, "socket:", 7) ? -1 : (int)syscall(SYS_pidfd_getfd, target->pidfd, fd, 0);
  if (copy < 0) return;
  end_repair(copy);
  close(copy);
}

void end_repair(int socket) {
  int on = 0, off = 0;
  socklen_t size = sizeof on;
  if (!getsockopt(socket, IPPROTO_TCP, TCP_REPAIR, &on, &size) && on)
    setsockopt(socket, IPPROTO_TCP, TCP_REPAIR, &off, sizeof off);
}

static void guard_calm(struct guard *guard) {
  for (size_t i = 0; i < guard->count; i++) {
    struct target target;
    if (!runs(&guard->processes[i])) continue;
    target_open(&target, guard->processes[i].pid, guard->processes[i].start);
    each_fd(&target, calm_fd, &target);
    target_close(&target);
  }
}

static void add_process(struct guard *guard, const char *text) {
  int pid;
  unsigned long start;
  char rest;
  if (!text || sscanf(text, "%d:%lu%c", &pid, &start, &rest) != 2 || pid < 2)
    die(2, "--process: expected PID:START, got %s", text ? text : "nothing");
  guard->processes = one_more(guard->processes, guard->count, sizeof *guard->processes);
  guard->processes[guard->count++] = (struct process){.pid = pid, .start = start};
}

int cmd_guard(int argc, char **argv) {
  setsid(); /* As in the mover: a repeated Ctrl-C is for the agent. */
  bool save = argc > 1 && !strcmp(argv[1], "save"), calm = argc > 1 && !strcmp(argv[1], "calm");
  const char *journal = NULL;
  struct guard guard = {0};
  if (argc < 2 || (!save && !calm && strcmp(argv[1], "restore"))) die(2, "usage: guard save|restore|calm ...");
  for (int i = 2; i < argc; i += 2) {
    if (!strcmp(argv[i], "--journal") && argv[i + 1]) journal = argv[i + 1];
    else if ((save || calm) && !strcmp(argv[i], "--process")) add_process(&guard, argv[i + 1]);
    else die(2, "unknown option %s", argv[i]);
  }
  if (calm ? journal || !guard.count : !journal || (save && !guard.count))
    die(2, "expected %s", calm ? "--process alone" : save ? "--journal and --process" : "--journal");
  move_signals();
  if (calm) {
    guard_calm(&guard);
  } else if (save) {
    guard_save(&guard);
    guard_write(&guard, journal);
  } else {
    guard_read(&guard, journal);
    guard_restore(&guard);
  }
  return 0;
}
