/* Exchanges the folders that a restore once used below the given folder, until it is killed: each holds other images. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const NAMES[] = {"ckpt", "work", "criu", "root"};

int main(int argc, char **argv) {
  const struct timespec pause = {0, 1000 * 1000};
  char path[256], other[300], image[300];
  if (argc != 2) return 2;
  for (;;) {
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
      snprintf(path, sizeof path, "%s/%s", argv[1], NAMES[i]);
      snprintf(other, sizeof other, "%s2", path);
      if (mkdir(path, 0777) == 0 && mkdir(other, 0777) == 0) {
        snprintf(image, sizeof image, "%s/inventory.img", path);
        close(open(image, O_CREAT | O_WRONLY, 0666));
      }
      for (int round = 0; round < 50; round++) renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
    }
    /* The tests run on two processors: the restore needs one, too. */
    nanosleep(&pause, NULL);
  }
}
