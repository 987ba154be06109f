/* filters: prints the seccomp filters of a process's main thread, oldest first: one line of hex
 * digits for each. With --threads prints those of every thread after a line "thread TID"; a thread
 * with the same filters as the one before is left out. */
#include "stasis.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long trace(long request, uint64_t tid, uint64_t address, void *data) {
  return syscall(SYS_ptrace, request, tid, address, data);
}

/* The kernel returns ENOENT after the last filter, and EINVAL for a thread without filters. */
static void print_filters(uint64_t tid, FILE *out) {
  static struct sock_filter program[BPF_MAXINSNS];
  for (uint64_t i = 0;; i++) {
    long length = trace(PTRACE_SECCOMP_GET_FILTER, tid, i, program);
    if (length < 0 && (errno == ENOENT || (i == 0 && errno == EINVAL))) return;
    if (length < 0) die_errno(EXIT_SELF, "reading the seccomp filters of thread %lu", tid);
    const unsigned char *bytes = (const unsigned char *)program;
    for (size_t at = 0; at < (size_t)length * sizeof *program; at++) fprintf(out, "%02x", bytes[at]);
    putc('\n', out);
  }
}

/* The filters of a thread, as text. The caller ends this program at its deadline; the kernel then
 * lets the thread continue. */
static char *filters_of(uint64_t tid, uint64_t pid, uint64_t start) {
  char path[64], state, *text;
  uint64_t found = 0;
  size_t length;
  int status;
  if (trace(PTRACE_SEIZE, tid, 0, NULL)) die_errno(EXIT_SELF, "tracing thread %lu", tid);
  snprintf(path, sizeof path, "/proc/%lu/stat", pid);
  if (!read_stat(AT_FDCWD, path, &state, &found) || found != start)
    die(EXIT_SELF, "process %lu: expected start time %lu, got %lu", pid, start, found);
  if (trace(PTRACE_INTERRUPT, tid, 0, NULL) || waitpid((pid_t)tid, &status, __WALL) != (pid_t)tid || !WIFSTOPPED(status))
    die(EXIT_SELF, "thread %lu: expected it to stop, got another end", tid);
  FILE *out = open_memstream(&text, &length);
  if (!out) die_errno(EXIT_SELF, "memory");
  print_filters(tid, out);
  /* A signal that stopped it instead is delivered now; a thread that was stopped before stays
   * stopped. */
  trace(PTRACE_DETACH, tid, 0, (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
  if (fclose(out)) die_errno(EXIT_SELF, "memory");
  return text;
}

static void print_threads(uint64_t pid, uint64_t start) {
  char path[64], *before = NULL;
  snprintf(path, sizeof path, "/proc/%lu/task", pid);
  DIR *folder = opendir(path);
  if (!folder) die_errno(EXIT_SELF, "%s", path);
  for (struct dirent *entry; (entry = readdir(folder));) {
    uint64_t tid;
    if (!parse_number(entry->d_name, 10, &tid)) continue;
    char *text = filters_of(tid, pid, start);
    if (!before || strcmp(text, before)) printf("thread %lu\n%s", tid, text);
    free(before);
    before = text;
  }
  free(before);
  closedir(folder);
}

int cmd_filters(int argc, char **argv) {
  uint64_t pid = 0, start = 0;
  bool threads = argc == 6 && !strcmp(argv[5], "--threads");
  if ((argc != 5 && !threads) || strcmp(argv[1], "--pid") || !parse_number(argv[2], 10, &pid) ||
      strcmp(argv[3], "--start") || !parse_number(argv[4], 10, &start))
    die(2, "usage: filters --pid PID --start TIME [--threads]");
  if (threads) print_threads(pid, start);
  else fputs(filters_of(pid, pid, start), stdout);
  return fflush(stdout) ? EXIT_SELF : 0;
}
