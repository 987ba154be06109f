/* install: puts this program into a folder that a pod's containers share. A target's init container
 * runs it, as any user and with a read-only root file system; also a second time. */
#include "stasis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "stasis-runtime"
/* One fixed name: what a killed run left is found and replaced, not collected. */
#define TEMPORARY "." NAME ".new"
#define PIECE (1u << 20)

static int folder = -1;

static void remove_temporary(void) { unlinkat(folder, TEMPORARY, 0); }

static int open_program(void) {
  /* Whatever the image calls it: the running program is the one that is known to work. */
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) die_errno(EXIT_SELF, "/proc/self/exe");
  return fd;
}

static void copy(int from, int to, const char *where) {
  for (;;) {
    ssize_t n = sendfile(to, from, NULL, PIECE);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) die_errno(EXIT_SELF, "%s/%s", where, NAME);
    if (!n) return;
  }
}

int cmd_install(int argc, char **argv) {
  const char *where = "/.stasis";
  if (argc == 3 && !strcmp(argv[1], "--dir")) where = argv[2];
  else if (argc != 1) die(2, "usage: install [--dir DIR]");
  int program = open_program();
  folder = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) die_errno(EXIT_SELF, "%s", where);
  if (unlinkat(folder, TEMPORARY, 0) && errno != ENOENT)
    die_errno(EXIT_SELF, "%s/%s", where, TEMPORARY);
  int made = openat(folder, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) die_errno(EXIT_SELF, "%s/%s", where, NAME);
  before_dying = remove_temporary;
  copy(program, made, where);
  /* Whatever the umask is: the workload's user shall be able to run it. */
  if (fchmod(made, 0755) || fsync(made) || close(made)
      || renameat(folder, TEMPORARY, folder, NAME))
    die_errno(EXIT_SELF, "%s/%s", where, NAME);
  before_dying = NULL;
  if (fsync(folder)) die_errno(EXIT_SELF, "%s", where);
  return 0;
}
