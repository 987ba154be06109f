/* The process whose memory is moved, read through one descriptor of its /proc folder. */
#include "move.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PF_IO_WORKER = 0x10 };

bool read_stat(int dir, const char *name, char *state, uint64_t *start) {
  char text[1024];
  uint64_t value = 0;
  unsigned flags = 0;
  /* The command's name may contain anything, including parentheses. */
  char *p = read_small(dir, name, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
  if (!p || sscanf(p + 2,
      "%c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lu", state,
      &flags, &value) != 3)
    return false;
  /* A kernel thread that works for an io_uring runs none of the program's code. */
  if (flags & PF_IO_WORKER) return false;
  *start = value;
  return true;
}

void target_check_same(const struct target *t) {
  char state;
  uint64_t start;
  if (!read_stat(t->proc, "stat", &state, &start)) die(GONE, "process %d is gone", t->pid);
  if (start != t->start)
    die(GONE, "process %d: expected start time %lu, got %lu", t->pid, t->start, start);
  if (state != 'Z' && state != 'X') return;
  if (target_status(t, "status", "Threads:", 10) > 1)
    die(REFUSED, "process %d: its main thread is dead", t->pid);
  die(GONE, "process %d has ended", t->pid);
}

void target_open(struct target *t, pid_t pid, uint64_t start) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d", pid);
  *t = (struct target){.pid = pid, .start = start};
  t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  t->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (t->pidfd < 0 || t->proc < 0) die_errno(GONE, "process %d", pid);
  target_check_same(t);
  t->pagemap = openat(t->proc, "pagemap", O_RDONLY | O_CLOEXEC);
  if (t->pagemap < 0) die_errno(SYSTEM, "process %d: pagemap", pid);
}

void target_close(struct target *t) {
  close(t->pidfd);
  close(t->proc);
  close(t->pagemap);
}

uint64_t target_status(const struct target *t, const char *file, const char *key, int base) {
  char text[8192];
  char *p = read_small(t->proc, file, text, sizeof text) > 0 ? strstr(text, key) : NULL;
  return p ? strtoull(p + strlen(key), NULL, base) : 0;
}

void target_check_stopped(const struct target *t, bool ours) {
  int fd = openat(t->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
  if (!tasks) die_errno(GONE, "process %d", t->pid);
  for (struct dirent *e; (e = readdir(tasks));) {
    char name[300], state;
    uint64_t start;
    if (*e->d_name == '.') continue;
    snprintf(name, sizeof name, "task/%s/stat", e->d_name);
    if (!read_stat(t->proc, name, &state, &start)) continue; /* ended meanwhile */
    bool traced_by_us = ours && atoi(e->d_name) == t->pid;
    snprintf(name, sizeof name, "task/%s/status", e->d_name);
    uint64_t tracer = state == 'T' && ours ? 0 : target_status(t, name, "TracerPid:", 10);
    if (state == 't' && traced_by_us && tracer == (uint64_t)getpid()) continue;
    if (tracer) die(REFUSED, "process %d: thread %s is traced by %lu", t->pid, e->d_name, tracer);
    if (state != 'T')
      die(REFUSED, "process %d: expected every thread stopped, got thread %s in state %c", t->pid,
          e->d_name, state);
  }
  closedir(tasks);
}

uint64_t target_resident(const struct target *t, uint64_t *from, uint64_t end) {
  uint64_t entries[2048], bytes = 0, first = end;
  for (uint64_t at = *from; at < end;) {
    size_t n = (end - at) / PAGE < 2048 ? (end - at) / PAGE : 2048;
    ssize_t got = pread(t->pagemap, entries, n * 8, (off_t)(at / PAGE * 8));
    if (got <= 0) {
      if (!got) errno = ESRCH;
      return UINT64_MAX;
    }
    for (size_t i = 0; i < (size_t)got / 8; i++)
      if (entries[i] >> 62) { /* present or swapped */
        if (first == end) first = at + i * PAGE;
        bytes += PAGE;
      }
    at += (uint64_t)got / 8 * PAGE;
  }
  *from = first;
  return bytes;
}

bool target_copy(const struct target *t, bool write, uint64_t address, void *buffer, size_t length) {
  for (size_t done = 0; done < length;) {
    struct iovec local = {(char *)buffer + done, length - done},
        remote = {(void *)(address + done), length - done};
    ssize_t n = write ? process_vm_writev(t->pid, &local, 1, &remote, 1, 0)
        : process_vm_readv(t->pid, &local, 1, &remote, 1, 0);
    if (n <= 0) {
      if (!n) errno = EFAULT;
      return false;
    }
    done += (size_t)n;
  }
  return true;
}
