/* sample: a process with memory that it can check, with which the agent tests its mover. */
#include "stasis.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

enum { LARGEST_MIB = 4096 };

static uint64_t value_at(uint64_t i) { return (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9; }

/* Prints "region ADDRESS LENGTH", then "good" or "bad" for each byte on standard input; exits with
 * its input. */
int cmd_sample(int argc, char **argv) {
  uint64_t mib = 0;
  if (argc != 3 || strcmp(argv[1], "--mib") || !parse_number(argv[2], 10, &mib) || !mib || mib > LARGEST_MIB)
    die(2, "usage: sample --mib 1..%d", LARGEST_MIB);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  size_t length = (size_t)mib << 20;
  uint64_t *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die_errno(EXIT_SELF, "%lu MiB", mib);
  for (size_t i = 0; i < length / 8; i++) memory[i] = value_at(i);
  dprintf(1, "region %lx %zu\n", (unsigned long)memory, length);
  for (char byte; read(0, &byte, 1) == 1;) {
    size_t bad = 0;
    for (size_t i = 0; i < length / 8; i++) bad += memory[i] != value_at(i);
    dprintf(1, bad ? "bad\n" : "good\n");
  }
  return 0;
}
