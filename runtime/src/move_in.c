/* move in: fills every missing chunk of the journal back into its process, and checks its digest
 * before a byte of it is written. May be killed and run again at any time. */
#include "move.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct target target;
static struct journal journal;
static const struct options *options;
static size_t *missing; /* indices of the chunks to fill, in order */
static int stage = -1;
static uint64_t stage_size;
static char *staged;
static _Thread_local sigjmp_buf *volatile reading;

static void on_bad_page(int number) {
  (void)number;
  if (reading) siglongjmp(*reading, 1);
  _exit(SYSTEM);
}

static void map_stage(void) {
  struct stat st;
  if (stage < 0 || fstat(stage, &st)) die_errno(SYSTEM, "stage %s", journal.stage);
  stage_size = (uint64_t)st.st_size;
  staged = stage_size ? mmap(NULL, stage_size, PROT_READ, MAP_SHARED, stage, 0) : NULL;
  if (staged == MAP_FAILED) die_errno(SYSTEM, "stage %s", journal.stage);
  signal(SIGBUS, on_bad_page);
}

/* The address space reads as zeros where it is not populated; only populated pages must be
 * overwritten. */
static bool fill_zero(const struct chunk *c) {
  static char zeros[PAGE];
  for (uint64_t at = c->address, end = c->address + c->length;; at += PAGE) {
    uint64_t left = target_resident(&target, &at, end);
    if (left == UINT64_MAX) return false;
    if (!left) return true;
    if (!target_copy(&target, true, at, zeros, PAGE)) return false;
  }
}

static bool is_right(const struct chunk *c, const char *bytes) {
  uint8_t sum[32];
  if (!options->sha256) return crc32c(0, bytes, c->length) == c->crc;
  if (c->laned) {
    struct lanes lanes;
    lanes_begin(&lanes);
    lanes_rows(&lanes, bytes, c->length);
    lanes_end(&lanes, sum);
  } else {
    sha256(bytes, c->length, sum);
  }
  return !memcmp(sum, c->sha, sizeof sum);
}

/* Checked in the mapped stage, which saves a copy compared with reading it. A page that cannot be
 * provided (a short file, a failed disk, a hole on a full tmpfs) causes SIGBUS. */
static int digest_is_right(const struct chunk *c) {
  sigjmp_buf back;
  if (c->offset > stage_size || c->length > stage_size - c->offset || sigsetjmp(back, 1)) {
    reading = NULL;
    errno = EIO;
    return -1;
  }
  posix_fadvise(stage, (off_t)c->offset, (off_t)c->length, POSIX_FADV_WILLNEED);
  reading = &back;
  bool right = is_right(c, staged + c->offset);
  reading = NULL;
  return right;
}

/* Reads the chunk by read(2), which needs no page for a hole of the stage. A mapping does, and a
 * full tmpfs, or a memory limit that is reached, cannot provide one. */
static char *read_chunk(const struct chunk *c) {
  char *bytes = malloc(c->length);
  for (size_t done = 0; bytes && done < c->length;) {
    ssize_t n = pread(stage, bytes + done, c->length - done, (off_t)(c->offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (!n) errno = EIO; /* it is too short */
      int error = errno;
      free(bytes);
      errno = error;
      return NULL;
    }
    done += (size_t)n;
  }
  return bytes;
}

static bool punch(const struct chunk *c) {
  return c->zero || !fallocate(stage, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)c->offset,
      (off_t)c->length);
}

static void fill_chunk(struct crew *crew, size_t item) {
  size_t index = missing[item];
  const struct chunk *c = &journal.chunks[index];
  char line[32];
  const char *what = "filling";
  char *copy = NULL;
  bool good;
  if (c->zero) {
    good = fill_zero(c);
  } else {
    int right = digest_is_right(c);
    if (right < 0 && (copy = read_chunk(c))) right = is_right(c, copy);
    if (right < 0)
      return crew_fail(crew, BAD_STAGE, "stage %s: chunk %zu: %s", journal.stage, index, strerror(errno));
    if (!right) {
      free(copy);
      return crew_fail(crew, BAD_STAGE, "stage %s: chunk %zu has a wrong digest", journal.stage,
          index);
    }
    good = target_copy(&target, true, c->address, copy ? copy : staged + c->offset, c->length);
    int error = errno;
    free(copy);
    errno = error;
  }
  if (good) {
    crash_point();
    what = "journal";
    int n = snprintf(line, sizeof line, "F %zu\n", index);
    good = journal_append(&journal, line, (size_t)n);
  }
  if (good && options->punch) what = "punching", good = punch(c);
  if (!good)
    return crew_fail(crew, errno == ESRCH ? GONE : SYSTEM, "process %d: chunk %zu: %s: %s", target.pid,
        index, what, strerror(errno));
  crew_done(crew, c->length);
}

/* Marks the chunks of the regions in a file: they keep their page size. */
static void read_not_huge(const char *path) {
  FILE *file = fopen(path, "re");
  char line[128];
  if (!file) die_errno(SYSTEM, "%s", path);
  while (fgets(line, sizeof line, file)) {
    uint64_t address, length;
    if (sscanf(line, "%lx %lu", &address, &length) != 2)
      die(2, "%s: expected ADDRESS LENGTH, got %s", path, line);
    for (size_t i = 0; i < journal.count; i++)
      if (journal.chunks[i].address - address < length) journal.chunks[i].not_huge = true;
  }
  fclose(file);
}

/* Asks for huge pages where whole ranges are empty; it is no error if the kernel has none. */
static void want_huge(size_t n) {
  for (size_t i = 0; i < n;) {
    const struct chunk *c = &journal.chunks[missing[i++]];
    if (c->not_huge) continue;
    uint64_t from = c->address, to = from + c->length;
    for (; i < n && (c = &journal.chunks[missing[i]])->address == to && !c->not_huge; i++)
      to += c->length;
    inject_call(SYS_madvise, from, to - from, MADV_HUGEPAGE, 0);
  }
}

int move_in(const struct options *o) {
  size_t n = 0;
  uint64_t bytes = 0;
  options = o;
  journal_open(&journal, o->journal);
  if (journal.pid && (journal.pid != (uint64_t)o->pid || journal.start != o->start))
    die(GONE, "journal %s is of process %lu started %lu, not of %d started %lu", o->journal, journal.pid,
        journal.start, o->pid, o->start);
  target_open(&target, o->pid, o->start);
  if (journal.pid) stage = open(journal.stage, (o->punch ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  missing = calloc(journal.count + 1, sizeof *missing);
  for (size_t i = 0; i < journal.count; i++) {
    const struct chunk *c = &journal.chunks[i];
    if (c->missing) {
      if (o->sha256 && !c->zero && !c->has_sha) die(2, "--verify sha256: chunk %zu has none", i);
      missing[n++] = i;
      bytes += c->length;
    } else if (c->filled && o->punch && stage >= 0) {
      punch(c); /* the process that fills it may have died just before */
    }
  }
  if (n) map_stage();
  bool touch = n || journal.saved.open;
  if (touch) {
    target_check_stopped(&target, false);
    inject_begin(&target, &journal);
    if (o->not_huge) read_not_huge(o->not_huge);
    if (o->huge) want_huge(n);
  }
  struct crew *crew = crew_start(o->threads, n, n, bytes, fill_chunk);
  crew_wait(crew, n);
  target_check_same(&target);
  if (touch) target_check_stopped(&target, true);
  inject_end();
  crew_end(crew);
  return 0;
}
