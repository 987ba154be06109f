/* move out: copies the memory of a stopped process into the stage, piece by piece. Unless the
 * process keeps it, each piece is dropped once the journal records its only other copy. */
#include "move.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Part that is read, summed and written at once: it stays in the second-level cache. */
#define PART (256u << 10)
/* A drop takes this part of a piece, so that copying continues meanwhile, and at most one piece
 * exists twice: the space check relies on that. */
#define DROPS_PER_PIECE 4

static struct target target;
static struct journal journal;
static struct chunk *chunks;
static size_t count;
static uint64_t total;
static int stage;
static char *mapped;
static bool with_sha;

static void read_regions(const char *path) {
  FILE *file = fopen(path, "re");
  char line[128];
  if (!file) die_errno(SYSTEM, "%s", path);
  for (size_t region = 0; fgets(line, sizeof line, file); region++) {
    uint64_t address, length;
    if (sscanf(line, "%lx %lu", &address, &length) != 2 || !length || address % PAGE || length % PAGE)
      die(2, "%s: expected ADDRESS LENGTH in whole pages, got %s", path, line);
    int n = snprintf(line, sizeof line, "R %zu %lx %lu\n", region, address, length);
    if (!journal_append(&journal, line, (size_t)n)) die_errno(SYSTEM, "journal");
    for (uint64_t done = 0; done < length; done += CHUNK, count++) {
      uint64_t size = length - done < CHUNK ? length - done : CHUNK;
      if (!(count & (count - 1)) && !(chunks = realloc(chunks, (count ? count * 2 : 1) * sizeof *chunks)))
        die_errno(SYSTEM, "memory");
      chunks[count] = (struct chunk){.address = address + done, .length = size, .offset = total,
          .known = true};
      total += size;
    }
  }
  fclose(file);
}

static bool all_zero(const uint64_t *p, size_t n) { return !*p && !memcmp(p, p + 1, n - 8); }

/* On a tmpfs all writers of a file serialize (5 GB/s in total), except those that write through a
 * mapping. The kernel copies from our memory: a full stage is then an error and not a SIGBUS.
 * False leaves the write to put_written, which reports the reason. */
static bool put_mapped(void *buffer, size_t size, uint64_t offset) {
  if (!mapped) return false;
  struct iovec to = {mapped + offset, size}, from = {buffer, size};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

static bool put_written(const void *buffer, size_t size, uint64_t offset) {
  for (size_t put = 0; put < size;) {
    ssize_t n = pwrite(stage, (const char *)buffer + put, size - put, (off_t)(offset + put));
    if (n < 0 && errno == EINTR) continue;
    if (!n) errno = ENOSPC;
    if (n <= 0) return false;
    put += (size_t)n;
  }
  return true;
}

/* Parts are whole pages, and so are rows. Leading zeros are digested once data follows: a chunk of
 * zeros only is not digested. */
static void sum_part(struct lanes *sum, const void *part, size_t size, uint64_t done, bool first) {
  static const char zeros[PAGE];
  for (; first && sum->length < done;) lanes_rows(sum, zeros, PAGE);
  lanes_rows(sum, part, size);
}

/* Parts of zeros are not written: the stage was empty and has holes there. */
static void copy_chunk(struct crew *crew, size_t index) {
  struct chunk *c = &chunks[index];
  uint64_t buffer[PART / 8];
  struct lanes sum;
  lanes_begin(&sum);
  c->zero = true;
  for (uint64_t done = 0; done < c->length; done += PART) {
    size_t size = c->length - done < PART ? c->length - done : PART;
    if (!target_copy(&target, false, c->address + done, buffer, size))
      return crew_fail(crew, errno == ESRCH ? GONE : SYSTEM, "process %d: reading %lx: %s", target.pid,
          c->address + done, strerror(errno));
    c->crc = crc32c(c->crc, buffer, size);
    crew_done(crew, size);
    bool zero = all_zero(buffer, size);
    if (with_sha && !(zero && c->zero)) sum_part(&sum, buffer, size, done, c->zero);
    if (zero) continue;
    c->zero = false;
    if (!put_mapped(buffer, size, c->offset + done) && !put_written(buffer, size, c->offset + done)) {
      bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
      return crew_fail(crew, full ? NO_ROOM : SYSTEM, "stage: %s", strerror(errno));
    }
  }
  c->has_sha = c->laned = with_sha && !c->zero;
  if (c->has_sha) lanes_end(&sum, c->sha);
}

/* One record for each chunk and, before the piece is dropped, the record of the drop, in this
 * order and in one write. */
static void journal_piece(size_t first, size_t end, bool drop) {
  size_t size = (end - first + 1) * 160, length = 0;
  char *lines = malloc(size);
  if (!lines) die_errno(SYSTEM, "memory");
  for (size_t i = first; i < end; i++)
    length += journal_chunk_line(lines + length, size - length, i, &chunks[i]);
  if (drop) length += (size_t)snprintf(lines + length, size - length, "D %zu %zu\n", first, end - first);
  if (!journal_append(&journal, lines, length)) die_errno(SYSTEM, "journal");
  free(lines);
}

static void drop(size_t first, size_t end) {
  for (size_t i = first; i < end;) {
    uint64_t from = chunks[i].address, to = from;
    for (; i < end && chunks[i].address == to; i++) to += chunks[i].length;
    long result = inject_call(SYS_madvise, from, to - from, MADV_DONTNEED, 0);
    if (result) die(REFUSED, "process %d: dropping %lx: %s", target.pid, from, strerror((int)-result));
    uint64_t at = from, left = target_resident(&target, &at, to);
    if (left)
      die(REFUSED, "process %d: %lu bytes are still there after the drop of %lx", target.pid, left, from);
  }
}

int move_out(const struct options *o) {
  struct stat st;
  with_sha = o->sha256;
  target_open(&target, o->pid, o->start);
  /* A copy without drops may run beside criu, which traces the threads: the caller ensures that no
   * thread runs. */
  if (!o->no_drop) target_check_stopped(&target, false);
  stage = open(o->stage, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (stage < 0 || fstat(stage, &st)) die_errno(SYSTEM, "stage %s", o->stage);
  if (st.st_size)
    die(2, "stage %s: expected an empty file, got %lld bytes", o->stage, (long long)st.st_size);
  journal_create(&journal, o);
  read_regions(o->regions);
  if (ftruncate(stage, (off_t)total))
    die_errno(errno == EFBIG || errno == ENOSPC ? NO_ROOM : SYSTEM, "stage %s", o->stage);
  struct statfs fs;
  if (total && !fstatfs(stage, &fs) && fs.f_type == TMPFS_MAGIC) {
    void *map = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, stage, 0);
    if (map != MAP_FAILED) mapped = map;
    /* No error if the tmpfs has none. */
    if (mapped) madvise(mapped, total, MADV_HUGEPAGE);
  }
  if (!o->no_drop) inject_begin(&target, &journal);
  size_t ahead = o->no_drop ? count : o->piece / CHUNK;
  size_t step = o->piece / CHUNK / DROPS_PER_PIECE ?: 1;
  struct crew *crew = crew_start(o->threads, count, ahead, total, copy_chunk);
  for (size_t first = 0; first < count; first += step) {
    size_t end = first + step < count ? first + step : count;
    crew_wait(crew, end);
    journal_piece(first, end, !o->no_drop);
    target_check_same(&target);
    if (o->no_drop) continue;
    target_check_stopped(&target, true);
    drop(first, end);
    crew_raise(crew, end + ahead);
  }
  inject_end();
  crew_end(crew);
  return 0;
}
