/* Preloaded: a disk that does not answer to a read while the file exists that HUNG_DISK names. The N-th such read makes FILE.N. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* A keeper reads no more than that at once from anything else. */
enum { LARGE = 1 << 20 };

ssize_t pread(int fd, void *data, size_t length, off_t at) {
    static _Atomic int reads;
    ssize_t (*real)(int, void *, size_t, off_t) = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    const char *hung = getenv("HUNG_DISK");
    if (length >= LARGE && access(hung, F_OK) == 0) {
        char name[200];
        snprintf(name, sizeof name, "%s.%d", hung, ++reads);
        close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        while (access(hung, F_OK) == 0) usleep(10000);
    }
    return real(fd, data, length, at);
}
