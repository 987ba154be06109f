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

int main(int argc, char **argv) {
  tools = argc > 1 ? argv[1] : "target";
  PROMISE(filled_with_huge_pages_it_is_the_same);
  PROMISE(memory_that_is_named_is_not_advised_to_be_huge);
  return failed;
}
