/* install: copies this program, or another file of its image, into a folder that a pod's
 * containers share. An init container runs it, as any user and with a read-only root file system;
 * it may run again. */
#include "stasis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1u << 20)

static int folder = -1;
static const char *name = "stasis-runtime";
/* One fixed name: the remainder of a killed run is replaced, not collected. */
static char temporary[256];

static void remove_temporary(void) { unlinkat(folder, temporary, 0); }

static int open_source(const char *file) {
  /* Whatever its name in the image is: the running program is the one that is known to work. */
  const char *path = file ? file : "/proc/self/exe";
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die_errno(EXIT_SELF, "%s", path);
  return fd;
}

static void copy(int from, int to, const char *where) {
  for (;;) {
    ssize_t n = sendfile(to, from, NULL, PIECE);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) die_errno(EXIT_SELF, "%s/%s", where, name);
    if (!n) return;
  }
}

int cmd_install(int argc, char **argv) {
  const char *where = "/.stasis";
  const char *file = NULL;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && !strcmp(argv[i], "--dir")) where = argv[i + 1];
    else if (i + 1 < argc && !strcmp(argv[i], "--file")) file = argv[i + 1];
    else die(2, "usage: install [--dir DIR] [--file FILE]");
  }
  if (file) name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
  if (!*name || strlen(name) > 200) die(2, "--file: expected the path of a file, got %s", file);
  snprintf(temporary, sizeof temporary, ".%s.new", name);
  int program = open_source(file);
  folder = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) die_errno(EXIT_SELF, "%s", where);
  if (unlinkat(folder, temporary, 0) && errno != ENOENT)
    die_errno(EXIT_SELF, "%s/%s", where, temporary);
  int made = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) die_errno(EXIT_SELF, "%s/%s", where, name);
  before_dying = remove_temporary;
  copy(program, made, where);
  /* Whatever the umask is: the workload's user must be able to run it. */
  if (fchmod(made, 0755) || fsync(made) || close(made)
      || renameat(folder, temporary, folder, name))
    die_errno(EXIT_SELF, "%s/%s", where, name);
  before_dying = NULL;
  if (fsync(folder)) die_errno(EXIT_SELF, "%s", where);
  return 0;
}
