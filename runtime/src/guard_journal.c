/* The guard's journal: text, one record per line, created by rename, so that it is complete or
 * absent. docs/node-engine.md describes its records. */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void hex(FILE *file, const void *data, size_t length) {
  for (size_t i = 0; i < length; i++) fprintf(file, "%02x", ((const uint8_t *)data)[i]);
}

static void read_boot(char boot[64]) {
  if (read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 64) <= 0)
    die_errno(SYSTEM, "boot_id");
  boot[strcspn(boot, "\n")] = 0;
}

static void write_process(FILE *file, const struct process *p) {
  fprintf(file, "P %d %lu\n", p->pid, p->start);
  for (size_t i = 0; i < p->fd_count; i++) fprintf(file, "F %d %d\n", p->fds[i].fd, p->fds[i].peek);
  if (p->code_at) {
    fprintf(file, "B %lx ", p->code_at);
    hex(file, p->code, CODE);
    fputc('\n', file);
  }
  fprintf(file, "Q %lx\n", p->pending);
  for (size_t i = 0; i < p->unreadable_count; i++)
    fprintf(file, "M %lx %lx %d\n", p->unreadable[i].from, p->unreadable[i].to, p->unreadable[i].protection);
  for (size_t i = 0; i < p->thread_count; i++) {
    const struct thread *thread = &p->threads[i];
    fprintf(file, "T %d %lx ", thread->tid, thread->mask);
    hex(file, &thread->regs, sizeof thread->regs);
    fputc(' ', file);
    hex(file, thread->state, thread->state_size);
    fputc('\n', file);
  }
}

void guard_write(struct guard *guard, const char *path) {
  char fresh[4096];
  read_boot(guard->boot);
  if (snprintf(fresh, sizeof fresh, "%s.new", path) >= (int)sizeof fresh) die(2, "--journal: too long");
  int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file) die_errno(SYSTEM, "journal %s", fresh);
  fprintf(file, "stasis-guard 1 boot=%s\n", guard->boot);
  for (size_t i = 0; i < guard->count; i++) write_process(file, &guard->processes[i]);
  fprintf(file, "end\n");
  if (fflush(file) || ferror(file) || fsync(fd) || fclose(file) || rename(fresh, path))
    die_errno(SYSTEM, "journal %s", path);
}

/* The bytes of a hex number of any length: their count, or -1. */
static ssize_t bytes(const char *text, uint8_t *to, size_t most) {
  size_t n = strspn(text, "0123456789abcdef");
  if (n % 2 || n / 2 > most) return -1;
  for (size_t i = 0; i < n / 2; i++)
    if (sscanf(text + 2 * i, "%2hhx", &to[i]) != 1) return -1;
  return (ssize_t)(n / 2);
}

static bool take_thread(struct process *p, const char *line) {
  static uint8_t state[MOST_STATE];
  struct thread t = {0};
  int at = 0;
  if (sscanf(line, "T %d %lx %n", &t.tid, &t.mask, &at) != 2 || !at) return false;
  const char *registers = line + at, *rest = strchr(registers, ' ');
  if (!rest || bytes(registers, (uint8_t *)&t.regs, sizeof t.regs) != sizeof t.regs) return false;
  ssize_t size = bytes(rest + 1, state, sizeof state);
  if (size <= 0) return false;
  t.state_size = (size_t)size;
  t.state = malloc(t.state_size);
  if (!t.state) die_errno(SYSTEM, "memory");
  memcpy(t.state, state, t.state_size);
  p->threads = one_more(p->threads, p->thread_count, sizeof *p->threads);
  p->threads[p->thread_count++] = t;
  return true;
}

static bool take_line(struct guard *guard, const char *line) {
  struct process *p = guard->count ? &guard->processes[guard->count - 1] : NULL, fresh = {0};
  struct unreadable m = {0};
  struct descriptor open = {0, -1};
  int at = 0;
  switch (*line) {
    case 'P':
      if (sscanf(line, "P %d %lu", &fresh.pid, &fresh.start) != 2) return false;
      guard->processes = one_more(guard->processes, guard->count, sizeof fresh);
      guard->processes[guard->count++] = fresh;
      return true;
    case 'F':
      if (!p || sscanf(line, "F %d %d", &open.fd, &open.peek) < 1) return false;
      p->fds = one_more(p->fds, p->fd_count, sizeof open);
      p->fds[p->fd_count++] = open;
      return true;
    case 'B':
      return p && sscanf(line, "B %lx %n", &p->code_at, &at) == 1 && at
          && bytes(line + at, p->code, CODE) == CODE;
    case 'Q':
      return p && sscanf(line, "Q %lx", &p->pending) == 1;
    case 'M':
      if (!p || sscanf(line, "M %lx %lx %d", &m.from, &m.to, &m.protection) != 3) return false;
      p->unreadable = one_more(p->unreadable, p->unreadable_count, sizeof m);
      p->unreadable[p->unreadable_count++] = m;
      return true;
    case 'T':
      return p && take_thread(p, line);
    default:
      return false;
  }
}

/* After the end: what a restore did before it was killed. */
static void take_mark(struct guard *guard, const char *line) {
  int pid;
  if (sscanf(line + 1, "%d", &pid) != 1) return;
  for (size_t i = 0; i < guard->count; i++) {
    struct process *p = &guard->processes[i];
    if (p->pid != pid) continue;
    if (*line == 'N') p->nothing_ran = true;
    else p->injected = *line == 'I';
  }
}

void guard_nothing_ran(const struct guard *guard, struct process *process) {
  char line[32];
  struct journal journal = {.fd = guard->fd};
  int n = snprintf(line, sizeof line, "N %d\n", process->pid);
  if (!journal_append(&journal, line, (size_t)n)) die_errno(SYSTEM, "journal");
  process->nothing_ran = true;
}

void guard_read(struct guard *guard, const char *path) {
  char boot[64], *line = NULL;
  size_t size = 0;
  bool whole = false;
  read_boot(boot);
  guard->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
  FILE *file = guard->fd < 0 ? NULL : fdopen(dup(guard->fd), "r");
  if (!file) die_errno(SYSTEM, "journal %s", path);
  if (getline(&line, &size, file) < 0 || sscanf(line, "stasis-guard 1 boot=%63s", guard->boot) != 1)
    die(SYSTEM, "journal %s: expected a header of format 1", path);
  if (strcmp(boot, guard->boot))
    die(GONE, "journal %s is of boot %s, this is boot %s: the processes are lost", path, guard->boot, boot);
  for (int number = 2; getline(&line, &size, file) > 0; number++) {
    if (!strcmp(line, "end\n")) whole = true;
    else if (whole) take_mark(guard, line);
    else if (!take_line(guard, line))
      die(SYSTEM, "journal %s: line %d makes no sense: \"%.60s\"", path, number, line);
  }
  free(line);
  fclose(file);
  if (!whole) die(SYSTEM, "journal %s: expected a whole one, got no end", path);
}
