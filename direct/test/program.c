/* program MODE ARGUMENT...: a program for one test; says `ready`, and `good` or what is wrong. */
#define _GNU_SOURCE
#include "../src/protocol.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;
static char stop_file[4096];

static void wrong(int line, const char *what, long wanted, long got) {
    printf("line %d: %s: expected %ld, got %ld\n", line, what, wanted, got);
    fflush(stdout);
    _exit(1);
}
#define EXPECT(wanted, value)                                                                                   \
    do {                                                                                                        \
        long got = (long)(value);                                                                               \
        if (got != (long)(wanted)) wrong(__LINE__, #value, (long)(wanted), got);                                \
    } while (0)

/* A call by name: all arguments are integers. */
static int call(const char *name, ...) {
    int (*function)(long, long, long, long, long, long) = (int (*)(long, long, long, long, long, long))dlsym(library, name);
    long a[6];
    va_list list;
    va_start(list, name);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (!function) wrong(0, name, 1, 0);
    return function(a[0], a[1], a[2], a[3], a[4], a[5]);
}
#define CALL(name, ...) call(name, __VA_ARGS__, 0L, 0L, 0L, 0L, 0L, 0L)
#define L(x) ((long)(uintptr_t)(x))

static void begin(void) {
    void *context;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT(0, CALL("cuInit", 0L));
    EXPECT(0, CALL("cuDevicePrimaryCtxRetain", L(&context), 0L));
    EXPECT(0, CALL("cuCtxSetCurrent", L(context)));
}

static void say(const char *text) {
    puts(text);
    fflush(stdout);
}

static void await_file(const char *path) {
    while (access(path, F_OK)) usleep(5000);
}

static int threads_named(const char *prefix) {
    char path[300], name[32];
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        count += file && fgets(name, sizeof name, file) && strncmp(name, prefix, strlen(prefix)) == 0;
        if (file) fclose(file);
    }
    closedir(tasks);
    return count;
}

static int before_context(void) {
    void *context;
    int count;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT(0, CALL("cuInit", 0L));
    EXPECT(0, CALL("cuDeviceGetCount", L(&count)));
    EXPECT(0, threads_named("stasis-"));
    EXPECT(0, CALL("cuDevicePrimaryCtxRetain", L(&context), 0L));
    for (int i = 0; i < 500 && threads_named("stasis-") < 2; i++) usleep(10000); /* they name themselves */
    EXPECT(2, threads_named("stasis-"));
    return 0;
}

static int fork_while_closed(const char *go, const char *out) {
    begin();
    say("ready");
    await_file(go);
    if (fork() == 0) {
        FILE *file = fopen(out, "w");
        fprintf(file, "done %d\n", CALL("cuInit", 0L));
        fclose(file);
        _exit(0);
    }
    wait(NULL);
    pause();
    return 0;
}

enum { SIZE = 4 << 20, HALF = SIZE / 2 };

static int word_at(uint64_t address) {
    int word = -1;
    EXPECT(0, CALL("cuMemcpyDtoH_v2", L(&word), (long)address, 4L));
    return word;
}

static int handles(const char *go) {
    const int32_t prop[8] = {1, 0, 1, 0}, access[3] = {1, 0, 3};
    uint64_t one, two, again, a, b, c;
    begin();
    EXPECT(0, CALL("cuMemCreate", L(&one), (long)SIZE, L(prop), 0L));
    EXPECT(0, CALL("cuMemCreate", L(&two), (long)SIZE, L(prop), 0L));
    EXPECT(0, CALL("cuMemAddressReserve", L(&a), (long)SIZE, 0L, 0L, 0L));
    EXPECT(0, CALL("cuMemAddressReserve", L(&b), (long)SIZE, 0L, 0L, 0L));
    EXPECT(0, CALL("cuMemMap", (long)a, (long)SIZE, 0L, (long)one, 0L));
    EXPECT(0, CALL("cuMemMap", (long)b, (long)HALF, (long)HALF, (long)one, 0L)); /* the second half once more */
    EXPECT(0, CALL("cuMemMap", (long)(b + HALF), (long)HALF, 0L, (long)two, 0L));
    EXPECT(0, CALL("cuMemSetAccess", (long)a, (long)SIZE, L(access), 1L));
    EXPECT(0, CALL("cuMemSetAccess", (long)b, (long)SIZE, L(access), 1L));
    EXPECT(0, CALL("cuMemRelease", (long)two)); /* its mapping keeps it */
    EXPECT(0, CALL("cuMemsetD32_v2", (long)a, 11L, (long)HALF / 4));
    EXPECT(0, CALL("cuMemsetD32_v2", (long)(a + HALF), 12L, (long)HALF / 4));
    EXPECT(0, CALL("cuMemsetD32_v2", (long)(b + HALF), 13L, (long)HALF / 4));
    say("ready");
    await_file(go);
    EXPECT(11, word_at(a));
    EXPECT(12, word_at(a + SIZE - 4));
    EXPECT(12, word_at(b)); /* still the same memory */
    EXPECT(13, word_at(b + HALF));
    EXPECT(0, CALL("cuMemsetD32_v2", (long)b, 14L, 1L));
    EXPECT(14, word_at(a + HALF));
    EXPECT(0, CALL("cuMemRetainAllocationHandle", L(&again), (long)b));
    EXPECT(one, again);
    EXPECT(1, CALL("cuMemRelease", (long)two)); /* was released before */
    EXPECT(0, CALL("cuMemUnmap", (long)b, (long)SIZE));
    EXPECT(0, CALL("cuMemAddressFree", (long)b, (long)SIZE));
    EXPECT(0, CALL("cuMemUnmap", (long)a, (long)SIZE));
    EXPECT(0, CALL("cuMemAddressReserve", L(&c), (long)SIZE, 0L, 0L, 0L));
    EXPECT(0, CALL("cuMemMap", (long)c, (long)SIZE, 0L, (long)one, 0L)); /* by the handle that it got before */
    EXPECT(0, CALL("cuMemSetAccess", (long)c, (long)SIZE, L(access), 1L));
    EXPECT(11, word_at(c));
    EXPECT(0, CALL("cuMemRelease", (long)one));
    EXPECT(0, CALL("cuMemRelease", (long)one)); /* the retained one */
    EXPECT(0, CALL("cuMemUnmap", (long)c, (long)SIZE));
    EXPECT(1, CALL("cuMemRelease", (long)one));
    say("good");
    return 0;
}

static int read_page(pid_t pid, struct gate_page *page) {
    char folder[64], path[400], name[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *fds = opendir(folder);
    for (struct dirent *entry; fds && (entry = readdir(fds));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t n = readlink(path, name, sizeof name - 1);
        name[n < 0 ? 0 : n] = 0;
        if (strncmp(name, "/memfd:" GATE_MEMFD, 18) == 0) {
            int fd = open(path, O_RDONLY);
            n = pread(fd, page, sizeof *page, 0);
            close(fd);
            closedir(fds);
            return n == sizeof *page;
        }
    }
    return 0;
}

static int connected(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path + 1, name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT(0, connect(fd, (struct sockaddr *)&address, (socklen_t)(sizeof address.sun_family + 1 + strlen(name))));
    return fd;
}

static int stranger(pid_t pid) {
    struct gate_page page;
    char answer[64];
    EXPECT(1, read_page(pid, &page));
    struct gate_request hello = {.magic = GATE_MAGIC, .command = GATE_HELLO}, open_up = {.magic = GATE_MAGIC, .command = GATE_OPEN_UP};
    memcpy(hello.token, page.token, sizeof hello.token);
    hello.token[15] ^= 1;
    const struct {
        const void *bytes;
        size_t length;
    } said[] = {{&hello, sizeof hello}, {&open_up, sizeof open_up}, {"x", 1}, {&hello, sizeof hello - 1}};
    for (int i = 0; i < 4; i++) {
        int fd = connected(page.name);
        EXPECT(said[i].length, send(fd, said[i].bytes, said[i].length, MSG_NOSIGNAL));
        EXPECT(0, recv(fd, answer, sizeof answer, 0));
        close(fd);
    }
    EXPECT(1, read_page(pid, &page));
    EXPECT(GATE_CLOSED, page.state);
    return 0;
}

enum { THREADS = 4, LONG = 16 << 20 }; /* bytes that take the simulated driver longer to fill than the keeper needs to unload */
static volatile long done[THREADS];

static void *fills(void *number) {
    void *context;
    uint64_t address;
    EXPECT(0, CALL("cuDevicePrimaryCtxRetain", L(&context), 0L));
    EXPECT(0, CALL("cuCtxSetCurrent", L(context)));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), (long)LONG));
    for (long value = 1; access(stop_file, F_OK); value = value % 100 + 1) {
        EXPECT(0, CALL("cuMemsetD32_v2", (long)address, value, LONG / 4L));
        EXPECT(value, word_at(address + LONG - 4));
        done[L(number)]++;
    }
    return NULL;
}

static void *one_call(void *unused) {
    int count;
    EXPECT(0, CALL("cuDeviceGetCount", L(&count)));
    return unused;
}

static int threads(const char *path) {
    pthread_t thread[THREADS], brief;
    snprintf(stop_file, sizeof stop_file, "%s", path);
    begin();
    for (long i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, fills, (void *)i);
    say("ready");
    for (long n = 0; access(path, F_OK); n++) { /* one thread after the other takes a slot and leaves it */
        pthread_create(&brief, NULL, one_call, NULL);
        pthread_join(brief, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        EXPECT(1, done[i] > 0);
    }
    say("good");
    return 0;
}

static long free_bytes(void) {
    size_t left, total;
    EXPECT(0, CALL("cuMemGetInfo_v2", L(&left), L(&total)));
    return (long)left;
}

enum { MANY = 40 };

/* Half of the memory, and later nearly all of it. */
static int more(const char *go) {
    uint64_t address, handle, other;
    struct {
        int type, requested, location_type, location_id;
        void *win32;
        unsigned char flags[8];
    } prop = {1, 0, 1, 0, NULL, {0}};
    begin();
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 40L << 20));
    say("ready");
    await_file(go);
    EXPECT(0, CALL("cuMemAlloc_v2", L(&other), 20L << 20));
    EXPECT(0, CALL("cuMemCreate", L(&handle), 20L << 20, L(&prop), 0L));
    say("good");
    EXPECT(2, CALL("cuMemAlloc_v2", L(&other), 60L << 20)); /* no copy is there: the driver's answer, at once */
    say("full");
    pause();
    return 0;
}

/* Blocks with a content of their own, by default more than one batch holds. */
static int many(const char *go, int count) {
    uint64_t address[MANY];
    begin();
    for (int i = 0; i < count; i++) {
        EXPECT(0, CALL("cuMemAlloc_v2", L(&address[i]), 2L << 20));
        EXPECT(0, CALL("cuMemsetD32_v2", (long)address[i], 1000L + i, (2L << 20) / 4));
    }
    say("ready");
    await_file(go);
    static int words[(2 << 20) / 4];
    for (int i = 0; i < count; i++) {
        EXPECT(0, CALL("cuMemcpyDtoH_v2", L(words), (long)address[i], 2L << 20));
        for (size_t j = 0; j < sizeof words / sizeof words[0]; j++) EXPECT(1000 + i, words[j]);
    }
    say("good");
    pause();
    return 0;
}

#include "calls.h"
#include "forks.h"
#include "liar.h"

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "before-context") == 0) return before_context();
    if (strcmp(mode, "fork") == 0 && argc == 4) return fork_while_closed(argv[2], argv[3]);
    if (strcmp(mode, "fork-memory") == 0) return fork_memory();
    if (strcmp(mode, "fork-locked") == 0) return fork_locked();
    if (strcmp(mode, "fork-waiting") == 0 && argc == 3) return fork_waiting(argv[2]);
    if (strcmp(mode, "fork-exporting") == 0 && argc == 3) return fork_exporting(argv[2]);
    if (strcmp(mode, "fork-first") == 0 && argc == 3) return fork_first(argv[2]);
    if (strcmp(mode, "handles") == 0 && argc == 3) {
        handles(argv[2]);
        pause();
    }
    if (strcmp(mode, "stranger") == 0 && argc == 3) return stranger(atoi(argv[2]));
    if (strcmp(mode, "threads") == 0 && argc == 3) return threads(argv[2]);
    if (strcmp(mode, "many") == 0 && argc >= 3) return many(argv[2], argc > 3 ? atoi(argv[3]) : MANY);
    if (strcmp(mode, "contexts") == 0 && argc == 3) return contexts(argv[2]);
    if (strcmp(mode, "more") == 0 && argc == 3) return more(argv[2]);
    if (strcmp(mode, "calls") == 0 && argc == 3) return calls(argv[2]);
    if (strcmp(mode, "early") == 0) return early();
    if (strcmp(mode, "captures") == 0 && argc == 3) return captures(argv[2]);
    if (strcmp(mode, "frees") == 0) return frees();
    if (strcmp(mode, "releases") == 0 && argc == 3) return releases(argv[2]);
    if (strcmp(mode, "destroys") == 0 && argc == 3) return destroys(argv[2]);
    if (strcmp(mode, "liar") == 0 && argc == 3) return liar(argv[2]);
    return 2;
}
