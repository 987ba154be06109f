/* Preloaded: a disk that never has what was written. */
#include <unistd.h>

int fsync(int fd) {
    (void)fd;
    for (;;) pause();
}
