/* The region journal: where each part of a process's memory is. docs/node-engine.md describes its
 * records. */
#include "move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REGISTERS (sizeof(struct user_regs_struct) / 8)
#define LANED "16x" /* prefix of a digest of sixteen lanes; without it, it is the chunk's SHA-256 */
#define MOST_CHUNKS (1u << 24) /* 128 TiB: the size of an address space */

static void read_boot(char boot[64]) {
  if (read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 64) <= 0)
    die_errno(SYSTEM, "boot_id");
  boot[strcspn(boot, "\n")] = 0;
}

bool journal_append(const struct journal *j, const char *lines, size_t length) {
  crash_point();
  ssize_t n = write(j->fd, lines, length);
  crash_point();
  if (n == (ssize_t)length) return true;
  if (n >= 0) errno = ENOSPC;
  return false;
}

void journal_create(struct journal *j, const struct options *o) {
  char line[5000];
  read_boot(j->boot);
  j->fd = open(o->journal, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  int n = snprintf(line, sizeof line, "stasis-regions 1 boot=%s pid=%d start=%lu stage=%s\n",
      j->boot, o->pid, o->start, o->stage);
  if (j->fd < 0 || n >= (int)sizeof line || !journal_append(j, line, (size_t)n))
    die_errno(SYSTEM, "journal %s", o->journal);
}

size_t journal_chunk_line(char *line, size_t size, size_t index, const struct chunk *c) {
  char sums[80] = "zero";
  if (!c->zero) {
    int n = snprintf(sums, sizeof sums, "%08x", c->crc);
    if (c->has_sha) n += snprintf(sums + n, sizeof sums - (size_t)n, c->laned ? " " LANED : " ");
    for (int i = 0; c->has_sha && i < 32; i++, n += 2)
      snprintf(sums + n, sizeof sums - (size_t)n, "%02x", c->sha[i]);
  }
  return (size_t)snprintf(line, size, "C %zu %lx %lu %lu %s\n", index, c->address,
                          c->length, c->offset, sums);
}

void journal_saved(struct journal *j, const struct saved *s) {
  uint64_t words[REGISTERS];
  char line[600];
  memcpy(words, &s->regs, sizeof words);
  int n = snprintf(line, sizeof line, "I %d %lx %lx ", s->tid, s->mask, s->at);
  for (size_t i = 0; i < REGISTERS; i++)
    n += snprintf(line + n, sizeof line - (size_t)n, "%016lx", words[i]);
  line[n++] = '\n';
  if (!journal_append(j, line, (size_t)n)) die_errno(SYSTEM, "journal");
  j->saved = *s;
  j->saved.open = true;
}

void journal_unsaved(struct journal *j) {
  char line[32];
  int n = snprintf(line, sizeof line, "E %d\n", j->saved.tid);
  if (!journal_append(j, line, (size_t)n)) die_errno(SYSTEM, "journal");
  j->saved.open = false;
}

static struct chunk *chunk_at(struct journal *j, uint64_t index) {
  if (index >= MOST_CHUNKS) return NULL;
  if (index >= j->count) {
    size_t count = index + 1 > j->count * 2 ? index + 1 : j->count * 2;
    struct chunk *more = realloc(j->chunks, count * sizeof *more);
    if (!more) return NULL;
    memset(more + j->count, 0, (count - j->count) * sizeof *more);
    j->chunks = more;
    j->count = count;
  }
  return &j->chunks[index];
}

static bool hex_bytes(const char *text, uint8_t *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1) return false;
  return strlen(text) == 2 * n;
}

static bool take_chunk(struct journal *j, const char *line) {
  uint64_t index, address, length, offset, crc = 0;
  char sum[16], sha[80] = "";
  int fields = sscanf(line, "C %lu %lx %lu %lu %15s %79s", &index, &address, &length, &offset, sum, sha);
  struct chunk *c = fields < 5 ? NULL : chunk_at(j, index);
  bool zero = !strcmp(sum, "zero");
  if (!c || !length || length > CHUNK || length % PAGE || address % PAGE || (int64_t)offset < 0)
    return false;
  if (!zero && (!parse_number(sum, 16, &crc) || crc > UINT32_MAX)) return false;
  bool laned = !strncmp(sha, LANED, strlen(LANED));
  *c = (struct chunk){.address = address, .length = length, .offset = offset, .crc = (uint32_t)crc,
      .known = true, .zero = zero, .has_sha = fields == 6, .laned = laned};
  return !c->has_sha || hex_bytes(sha + (laned ? strlen(LANED) : 0), c->sha, 32);
}

static bool take_line(struct journal *j, const char *line) {
  uint64_t first, count = 1, mask, at;
  char registers[500];
  int tid;
  uint64_t words[REGISTERS];
  switch (*line) {
    case 'R':
      return true;
    case 'C':
      return take_chunk(j, line);
    case 'D':
    case 'F':
      if (sscanf(line + 1, *line == 'D' ? "%lu %lu" : "%lu", &first, &count) != (*line == 'D' ? 2 : 1))
        return false;
      if (count > MOST_CHUNKS) return false;
      for (uint64_t i = first; i < first + count; i++) {
        if (i >= j->count || !j->chunks[i].known) return false;
        j->chunks[i].missing = *line == 'D';
        j->chunks[i].filled = *line == 'F';
      }
      return true;
    case 'I':
      if (sscanf(line, "I %d %lx %lx %499s", &tid, &mask, &at, registers) != 4
          || strlen(registers) != REGISTERS * 16)
        return false;
      for (size_t i = 0; i < REGISTERS; i++)
        if (sscanf(registers + 16 * i, "%16lx", &words[i]) != 1) return false;
      j->saved = (struct saved){.open = true, .tid = tid, .mask = mask, .at = at};
      memcpy(&j->saved.regs, words, sizeof words);
      return true;
    case 'E':
      j->saved.open = false;
      return true;
    default:
      return false;
  }
}

void journal_open(struct journal *j, const char *path) {
  struct stat st;
  char boot[64];
  read_boot(boot);
  j->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
  if (j->fd < 0 || fstat(j->fd, &st)) die_errno(SYSTEM, "journal %s", path);
  size_t size = (size_t)st.st_size;
  char *text = malloc(size + 1);
  if (!text || pread(j->fd, text, size, 0) != (ssize_t)size) die_errno(SYSTEM, "journal %s", path);
  while (size && text[size - 1] != '\n') size--;
  text[size] = 0;
  /* A torn line is ignored; if it were kept, our first line would be appended to it. */
  if (size != (size_t)st.st_size && ftruncate(j->fd, (off_t)size)) die_errno(SYSTEM, "journal %s", path);
  uint64_t start;
  int number = 1, header = 0;
  char *end = strchr(text, '\n');
  if (end) *end = 0;
  if (!end) return; /* its writer died before it could drop anything */
  if (sscanf(text, "stasis-regions 1 boot=%63s pid=%lu start=%lu stage=%n%4095[^\n]", j->boot, &j->pid,
      &start, &header, j->stage) != 4)
    die(SYSTEM, "journal %s: expected a header of format 1, got \"%.60s\"", path, text);
  j->start = start;
  if (strcmp(boot, j->boot))
    die(GONE, "journal %s is of boot %s, this is boot %s: the process is lost", path, j->boot, boot);
  for (char *line = end + 1; *line; line = end + 1) {
    end = strchr(line, '\n');
    *end = 0;
    number++;
    if (!take_line(j, line))
      die(SYSTEM, "journal %s: line %d makes no sense: \"%.60s\"", path, number, line);
  }
  free(text);
}
