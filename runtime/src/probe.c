/* probe: was the restore into this container verified? */
#include "stasis.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int cmd_probe(int argc, char **argv) {
  const char *dir = "/.stasis";
  if (argc == 3 && !strcmp(argv[1], "--dir")) dir = argv[2];
  else if (argc != 1) die(2, "usage: probe [--dir DIR]");
  int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 && !faccessat(fd, "restored", F_OK, 0) ? 0 : 1;
}
