/* A helper process that opens, on request, things that cannot be checkpointed or restored
 * elsewhere. */
#define _GNU_SOURCE
#include "counter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 100, MOST = 64, PORT = 4712 };

#define HIDDEN "/data/hidden"

/* Everything that a request opens gets a number from FIRST on, so that the next request can close
 * it. */
static void keep(int fd) {
    if (fd >= 0) {
        if (fcntl(fd, F_DUPFD, FIRST) < 0) {
            _exit(3);
        }
        close(fd);
    }
}

static int address(const char *text, struct sockaddr_storage *at) {
    struct sockaddr_in *four = (void *)at;
    struct sockaddr_in6 *six = (void *)at;
    memset(at, 0, sizeof *at);
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(PORT);
        return sizeof *four;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(PORT);
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1 ? (int)sizeof *six : 0;
}

/* Bound to the address; with peer, connected to it. */
static int inet_socket(int type, const char *text, int listens, int connects) {
    struct sockaddr_storage at;
    int length = address(text, &at), yes = 1;
    int fd = socket(at.ss_family, type, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || (connects ? connect(fd, (void *)&at, (socklen_t)length) : bind(fd, (void *)&at, (socklen_t)length)) || (listens && listen(fd, 4))) {
        return -1;
    }
    return fd;
}

/* A connection with itself over that address, and no listener. */
static int inet_pair(const char *text) {
    int server = inet_socket(SOCK_STREAM, text, 1, 0), client = inet_socket(SOCK_STREAM, text, 0, 1);
    if (server < 0 || client < 0) {
        return -1;
    }
    keep(client);
    int accepted = accept(server, NULL, NULL);
    close(server);
    return accepted;
}

/* A child that runs an unusual operation, and then waits for its end. */
static int child(int (*odd)(const char *), const char *argument) {
    int result[2], error = 0;
    if (pipe(result)) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGUSR1, SIG_DFL);
        error = odd(argument) ? errno : 0;
        (void)!write(result[1], &error, sizeof error);
        for (;;) {
            pause();
        }
    }
    if (pid < 0 || read(result[0], &error, sizeof error) != sizeof error) {
        error = EIO;
    }
    close(result[0]);
    close(result[1]);
    errno = error;
    return error ? -1 : 0;
}

static int new_namespace(const char *type) {
    static const struct {
        const char *type;
        int flag;
    } all[] = {{"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS}, {"net", CLONE_NEWNET}, {"mnt", CLONE_NEWNS}, {"cgroup", CLONE_NEWCGROUP}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(type, all[i].type) == 0) {
            return unshare(all[i].flag);
        }
    }
    errno = EINVAL;
    return -1;
}

static int trace(const char *unused) {
    (void)unused;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            pause();
        }
    }
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) ? -1 : 0;
}

static int device(char *argument) {
    int major = 0, minor = 0;
    char path[64];
    if (sscanf(argument, "%63s %d %d", path, &major, &minor) != 3 ||
        (mknod(path, S_IFCHR | 0666, makedev((unsigned)major, (unsigned)minor)) && errno != EEXIST)) {
        return -1;
    }
    return open(path, O_RDWR | O_CLOEXEC);
}

static int terminal(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY), unlocked = 0;
    char path[32];
    if (master < 0 || ioctl(master, 0x40045431 /* TIOCSPTLCK */, &unlocked) || ptsname_r(master, path, sizeof path)) {
        return -1;
    }
    keep(master);
    return open(path, O_RDWR | O_NOCTTY);
}

/* Watches each of the paths, separated by spaces, on one descriptor. */
static int watch(char *paths) {
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    for (char *path = strtok(paths, " "); path; path = strtok(NULL, " ")) {
        if (inotify_add_watch(fd, path, IN_MODIFY | IN_CREATE) < 0) {
            return -1;
        }
    }
    return fd;
}

/* Watches a folder that is then hidden by another mount. */
static int watch_hidden(void) {
    char path[] = HIDDEN "/watched";
    int failed = (mkdir(HIDDEN, 0755) && errno != EEXIST) || (mkdir(path, 0755) && errno != EEXIST);
    int fd = failed ? -1 : watch(path);
    return fd >= 0 && mount("odd", HIDDEN, "ramfs", 0, NULL) ? -1 : fd;
}

/* Whether this many watches have reported an event since the last request. */
static int events(const char *expected) {
    _Alignas(struct inotify_event) char bytes[4096];
    uint64_t seen = 0;
    ssize_t length;
    while ((length = read(FIRST, bytes, sizeof bytes)) > 0) {
        for (char *at = bytes; at < bytes + length;) {
            struct inotify_event *event = (void *)at;
            seen |= 1UL << event->wd;
            at += sizeof *event + event->len;
        }
    }
    errno = ENOMSG;
    return __builtin_popcountl(seen) == atoi(expected) ? 0 : -1;
}

static int unix_pair(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
        return -1;
    }
    keep(ends[0]);
    return ends[1];
}

static int unix_client(int type, const char *path) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    return connect(fd, (void *)&at, sizeof at) ? -1 : fd;
}

static int perform(char *name, char *argument) {
    struct perf_event_attr perf = {.type = PERF_TYPE_SOFTWARE, .size = sizeof perf, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1};
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    uint64_t rights[1] = {1};
    int fd = -1;
    if (strcmp(name, "listen") == 0) {
        fd = inet_socket(SOCK_STREAM, argument, 1, 0);
    } else if (strcmp(name, "bound") == 0) {
        fd = inet_socket(SOCK_STREAM, argument, 0, 0);
    } else if (strcmp(name, "udp") == 0) {
        fd = inet_socket(SOCK_DGRAM, argument, 0, 0);
    } else if (strcmp(name, "udp-connected") == 0) {
        fd = inet_socket(SOCK_DGRAM, argument, 0, 1);
    } else if (strcmp(name, "pair") == 0) {
        fd = inet_pair(argument);
    } else if (strcmp(name, "socket") == 0) {
        int family = 0, type = 0, protocol = 0;
        sscanf(argument, "%d %d %d", &family, &type, &protocol);
        fd = socket(family, type, protocol);
    } else if (strcmp(name, "perf") == 0) {
        fd = (int)syscall(SYS_perf_event_open, &perf, 0, -1, -1, 0);
    } else if (strcmp(name, "userfaultfd") == 0) {
        fd = (int)syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */);
    } else if (strcmp(name, "bpf") == 0) {
        fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map);
    } else if (strcmp(name, "landlock") == 0) {
        fd = (int)syscall(444 /* landlock_create_ruleset */, rights, sizeof rights, 0);
    } else if (strcmp(name, "io_uring") == 0) {
        fd = ring_odd(argument);
    } else if (strcmp(name, "inotify") == 0) {
        fd = watch(argument);
    } else if (strcmp(name, "inotify-hidden") == 0) {
        fd = watch_hidden();
    } else if (strcmp(name, "events") == 0) {
        return events(argument);
    } else if (strcmp(name, "ipc") == 0) {
        fd = ipc_odd(argument);
    } else if (strcmp(name, "object") == 0) {
        return ipc_object(argument);
    } else if (strcmp(name, "ipc-closed") == 0) {
        int opened = ipc_odd(argument);
        close(opened);
        return opened < 0 ? -1 : 0;
    } else if (strcmp(name, "secretmem") == 0) {
        fd = (int)syscall(447 /* memfd_secret */, 0);
    } else if (strcmp(name, "system-v") == 0) {
        return child(ipc_attach, argument);
    } else if (strcmp(name, "fanotify") == 0) {
        fd = fanotify_init(FAN_CLOEXEC, O_RDONLY);
    } else if (strcmp(name, "pidfd") == 0) {
        fd = (int)syscall(434 /* pidfd_open */, getpid(), 0);
    } else if (strcmp(name, "unix-pair") == 0) {
        fd = unix_pair();
    } else if (strcmp(name, "unix-stream") == 0) {
        fd = unix_client(SOCK_STREAM, argument);
    } else if (strcmp(name, "unix-datagram") == 0) {
        fd = unix_client(SOCK_DGRAM, argument);
    } else if (strcmp(name, "device") == 0) {
        fd = device(argument);
    } else if (strcmp(name, "tty") == 0) {
        fd = terminal();
    } else if (strcmp(name, "namespace") == 0) {
        return child(new_namespace, argument);
    } else if (strcmp(name, "ramfs") == 0 || strcmp(name, "tmpfs") == 0) {
        return mkdir(argument, 0755) && errno != EEXIST ? -1 : mount("odd", argument, name, 0, NULL);
    } else if (strcmp(name, "umount") == 0) {
        return umount(argument);
    } else if (strcmp(name, "trace") == 0) {
        return child(trace, argument);
    }
    keep(fd);
    return fd < 0 ? -1 : 0;
}

static void forget(void) {
    for (int fd = FIRST; fd < FIRST + MOST; fd++) {
        close(fd);
    }
    umount2(HIDDEN, MNT_DETACH);
    ipc_forget();
    signal(SIGCHLD, SIG_IGN);
    kill(0, SIGUSR1); /* ends the children of this group; ignored by this process */
    while (wait(NULL) > 0) {
    }
    signal(SIGCHLD, SIG_DFL);
}

static void serve(const char *path) {
    char line[256], answers[128];
    snprintf(answers, sizeof answers, "%s.answers", path);
    for (;;) {
        FILE *requests = fopen(path, "r");
        while (requests && fgets(line, sizeof line, requests)) {
            line[strcspn(line, "\n")] = 0;
            char *argument = strchr(line, ' ');
            if (argument) {
                *argument++ = 0;
            }
            if (strcmp(line, "events") != 0) {
                forget();
            }
            errno = EINVAL;
            int failed = strcmp(line, "nothing") != 0 && perform(line, argument ? argument : "");
            FILE *answer = fopen(answers, "a");
            if (!answer) {
                _exit(3);
            }
            fprintf(answer, "%s %s\n", line, failed ? strerror(errno) : "done");
            fclose(answer);
        }
        if (requests) {
            fclose(requests);
        }
    }
}

void odd_start(const char *path) {
    pid_t parent = getpid();
    if (mkfifo(path, 0600)) {
        perror(path);
        _exit(3);
    }
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "odd");
        setpgid(0, 0);
        signal(SIGUSR1, SIG_IGN);
        if (getppid() == parent) {
            serve(path);
        }
        _exit(0);
    }
}
