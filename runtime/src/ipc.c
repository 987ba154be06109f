/* ipc: the System V objects of a container's IPC namespace, one a line: KIND ID. */
#include "stasis.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

/* The first column of each table is the key, the second the id; a line of titles stands above them. */
static void print_table(const char *kind) {
  char path[32], line[512];
  long key, id;
  snprintf(path, sizeof path, "/proc/sysvipc/%s", kind);
  FILE *table = fopen(path, "re");
  if (!table && errno == ENOENT) return; /* a kernel without System V IPC */
  if (!table) die_errno(EXIT_SELF, "%s", path);
  while (fgets(line, sizeof line, table))
    if (sscanf(line, "%ld %ld", &key, &id) == 2) printf("%s %ld\n", kind, id);
  if (ferror(table)) die_errno(EXIT_SELF, "%s", path);
  fclose(table);
}

int cmd_ipc(int argc, char **argv) {
  enter_namespace(argc, argv, "ipc", CLONE_NEWIPC);
  print_table("sem");
  print_table("msg");
  print_table("shm");
  return fflush(stdout) ? EXIT_SELF : 0;
}
