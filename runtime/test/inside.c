/* What runs inside the test containers, which have nothing else: a few commands in one static file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char buffer[4096];
  ssize_t n;
  if (argc > 1 && !strcmp(argv[1], "sleep"))
    for (;;) pause();
  if (argc > 2 && !strcmp(argv[1], "exit")) return atoi(argv[2]);
  if (argc > 2 && !strcmp(argv[1], "exec")) {
    execlp(argv[2], argv[2], "exit", "0", NULL);
    return 3;
  }
  if (argc > 2 && !strcmp(argv[1], "write")) return open(argv[2], O_WRONLY | O_CREAT, 0600) < 0;
  if (argc > 4 && !strcmp(argv[1], "exchange")) {
    for (int i = 0; i < atoi(argv[4]); i++)
      if (renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE)) return 1;
    return 0;
  }
  if (argc > 2 && !strcmp(argv[1], "say")) return puts(argv[2]) < 0;
  if (argc > 2 && !strcmp(argv[1], "cat")) {
    int fd = open(argv[2], O_RDONLY);
    while (fd >= 0 && (n = read(fd, buffer, sizeof buffer)) > 0)
      if (write(1, buffer, (size_t)n) != n) return 1;
    return fd < 0;
  }
  if (argc > 1 && !strcmp(argv[1], "ns")) {
    const char *names[] = {"net", "uts", "ipc", "cgroup", "pid", "mnt"};
    for (int i = 0; i < 6; i++) {
      char path[64];
      snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
      n = readlink(path, buffer, sizeof buffer - 1);
      printf("%s %.*s\n", names[i], (int)n, buffer);
    }
    return 0;
  }
  return 2;
}
