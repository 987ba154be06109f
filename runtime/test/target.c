/* For the benchmark: a process with so many MiB of filled memory; prints its pid, start and region. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
  size_t length = (size_t)(argc > 1 ? atol(argv[1]) : 1024) << 20;
  uint64_t *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return 1;
  if (argc > 2) madvise(p, length, MADV_HUGEPAGE);
  for (size_t i = 0; i < length / 8; i++) p[i] = i * 0x9e3779b97f4a7c15;
  printf("%d %llx %zu\n", getpid(), (unsigned long long)(uintptr_t)p, length);
  fflush(stdout);
  for (;;) pause();
}
