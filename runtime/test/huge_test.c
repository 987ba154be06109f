/* move in with huge pages. */
#include "harness.h"

static bool filled_with_huge_pages_it_is_the_same(void) {
  struct work w;
  bool good = begin(&w, 64 * MIB + 12288, SPARSE | THREADS) && stop(&w) && code_is(move(&w, "out"), 0)
      && code_is(move(&w, "in", "--huge"), 0) && goes_on(&w);
  /* And once more, with ranges that are of huge pages now. */
  good = good && stop(&w) && code_is(move(&w, "out"), 0) && (resident_mib(&w) < 8 || no("not dropped"))
      && code_is(move(&w, "in", "--huge", "--punch"), 0) && goes_on(&w);
  end(&w);
  return good;
}

/* Whether any mapping of the size of the test's memory has been advised to be of huge pages. */
static bool advised(const struct work *w) {
  char path[64], line[256];
  bool large = false, huge = false;
  snprintf(path, sizeof path, "/proc/%d/smaps", w->pid);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof line, f)) {
    unsigned long kib;
    if (sscanf(line, "Size: %lu", &kib) == 1) large = kib >= 16 * 1024;
    huge = huge || (large && !strncmp(line, "VmFlags:", 8) && strstr(line, " hg"));
  }
  if (f) fclose(f);
  return huge;
}

static bool memory_that_is_named_is_not_advised_to_be_huge(void) {
  struct work w;
  char path[128];
  snprintf(path, sizeof path, "%s/regions", dir);
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0)
      && code_is(move(&w, "in", "--huge", "--not-huge", path), 0)
      && (!advised(&w) || no("advised")) && goes_on(&w);
  good = good && stop(&w) && code_is(move(&w, "out"), 0) && code_is(move(&w, "in", "--huge"), 0)
      && (advised(&w) || no("not advised")) && goes_on(&w);
  end(&w);
  return good;
}

/* Bytes of the stage in huge pages: only those are mapped by huge entries of the page table. */
static unsigned long huge_kib_of(const char *stage, size_t length) {
  int fd = open(stage, O_RDONLY);
  char *map = mmap((void *)(1ul << 40), length, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0), line[256];
  unsigned long kib = 0, found = 0;
  bool ours = false;
  close(fd);
  if (map == MAP_FAILED) return 0;
  madvise(map, length, MADV_HUGEPAGE);
  for (size_t i = 0; i < length; i += 4096) *(volatile char *)(map + i);
  FILE *f = fopen("/proc/self/smaps", "re");
  while (f && fgets(line, sizeof line, f)) {
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx ", &from, &to) == 2) ours = from == (unsigned long)map;
    else if (ours && sscanf(line, "ShmemPmdMapped: %lu", &found) == 1) kib = found;
  }
  if (f) fclose(f);
  munmap(map, length);
  return kib;
}

static bool a_stage_that_has_huge_pages_is_written_with_them(void) {
  struct work w;
  char path[128];
  if (mount("none", dir, "tmpfs", 0, "huge=advise")) return no("no tmpfs with huge pages: %s", strerror(errno));
  snprintf(path, sizeof path, "%s/stage", dir);
  bool good = begin(&w, 64 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0);
  unsigned long kib = good ? huge_kib_of(path, 64 * MIB) : 0;
  /* A machine with little memory may lack some of them. */
  good = good && (kib >= 32 * 1024 || no("%lu KiB in huge pages", kib)) && code_is(move(&w, "in"), 0) && goes_on(&w);
  end(&w);
  umount(dir);
  return good;
}

int main(int argc, char **argv) {
  tools = argc > 1 ? argv[1] : "target";
  PROMISE(filled_with_huge_pages_it_is_the_same);
  PROMISE(a_stage_that_has_huge_pages_is_written_with_them);
  PROMISE(memory_that_is_named_is_not_advised_to_be_huge);
  return failed;
}
