/* Every step changes device memory, reads it back and prints one line that can be checked. */
#define _GNU_SOURCE
#include "counter.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: gpu-counter [--mib N] [--interval-ms N] [--steps N] [--device N] [--threads N] [--file PATH] [--listen PORT]\n"
    "                   [--shm] [--deleted-file] [--managed] [--ballast MIB] [--peer] [--nccl] [--kernel-ms N] [--fork N] [--churn] [--busy-writer] [--idle-child] [--loader] [--loopback] [--own-address] [--io-uring] [--odd FIFO]\n"
    "                   [--link pipe|unix|tcp|shm] [--launcher]\n"
    "       gpu-counter --pause\n"
    "       gpu-counter --verify LOG [--mib N] [--from STEP]\n"
    "Ends with 0 after --steps or SIGTERM, 1 when anything is BAD, 2 for wrong usage, 3 when the driver fails.\n";

atomic_ulong counter;
static int log_file = -1;
static long child; /* 0 in the first process */
static volatile sig_atomic_t ended, joins;

static void say(const char *line) {
    size_t length = strlen(line);
    if (write(1, line, length) < 0 || (log_file >= 0 && write(log_file, line, length) < 0)) {
        _exit(4);
    }
}

void bad(const char *what) {
    char line[256];
    snprintf(line, sizeof line, "BAD %s after step %lu\n", what, atomic_load(&counter));
    say(line);
    _exit(1);
}

static void on_term(int signal) {
    (void)signal;
    ended = 1;
}

/* A communicator that is created while the program runs. */
static void on_usr1(int signal) {
    (void)signal;
    joins = 1;
}

/* Another program in its place, without CUDA. */
static void on_usr2(int signal) {
    (void)signal;
    execl("/proc/self/exe", "gpu-counter", "--pause", NULL);
    _exit(5);
}

static void watch_children(void) {
    int status;
    pid_t pid;
    /* Only the children that count too; a separate thread waits for those of --churn. */
    if (child == 0 && (pid = waitpid(0, &status, WNOHANG)) > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        bad("a counting child process");
    }
}

static void be_many(long forks) {
    pid_t parent = getpid();
    for (long i = 1; i <= forks && child == 0; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            perror("gpu-counter: fork");
            exit(3);
        }
        if (pid == 0) {
            child = i;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) {
                _exit(1);
            }
        }
    }
}

/* A helper that does not use the GPU and hardly interacts with the program. */
static void have_idle_child(void) {
    pid_t parent = getpid();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "idle-child");
        while (getppid() == parent) {
            pause();
        }
        _exit(0);
    }
}

/* Like torchrun: it starts the process that counts, and loads NCCL and the driver's library
 * without using them. */
static void launch(int linked) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return;
    }
    if (linked) {
        link_keep(1);
    }
    device_init();
    while (waitpid(pid, &status, 0) < 0) {
        if (ended) {
            kill(pid, SIGTERM);
            ended = 0;
        }
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* An allocation that only has to keep its content. */
enum { BALLAST = 0x5a };

static int is_ballast(uint64_t address, size_t bytes) {
    static unsigned char part[1 << 20];
    for (size_t at = 0; at < bytes; at += sizeof part) {
        device_read(part, address + at, sizeof part);
        if (part[0] != BALLAST || memcmp(part, part + 1, sizeof part - 1)) {
            return 0;
        }
    }
    return 1;
}

static int count(const struct options *options) {
    struct buffer buffer, managed;
    uint64_t set_address, sum, ballast = 0;
    unsigned char set[4096];
    device_open(options->device);
    buffer_make(&buffer, (uint64_t)options->mib, 0);
    set_address = device_allocate(sizeof set);
    device_set(set_address, 0, sizeof set);
    if (options->managed) {
        buffer_make(&managed, 2, 1);
    }
    if (options->ballast) {
        ballast = device_allocate((size_t)options->ballast << 20);
        device_set(ballast, BALLAST, (size_t)options->ballast << 20);
    }
    if (options->peer) {
        device_share(buffer.address);
    }
    if (options->nccl) {
        device_join(buffer.address, (int)options->forks + 1);
    }
    company_start(options);
    for (uint64_t step = 1; !ended && (options->steps == 0 || step <= (uint64_t)options->steps); step++) {
        if (joins) {
            joins = 0;
            device_segment();
        }
        int full = step % FULL_CHECK_EVERY == 0;
        int right = buffer_step(&buffer, step, &sum);
        char line[128], name[32] = "";
        uint64_t other;
        device_read(set, set_address, sizeof set);
        for (size_t i = 0; i < sizeof set; i++) {
            right &= set[i] == (unsigned char)(step - 1);
        }
        device_set(set_address, (unsigned char)step, sizeof set);
        right &= !full || buffer_check(&buffer);
        right &= !full || !options->ballast || is_ballast(ballast, (size_t)options->ballast << 20);
        right &= !options->managed || buffer_step(&managed, step, &other);
        if (options->kernel_ms) {
            device_spin(options->kernel_ms);
        }
        company_check(step, full);
        if (child) {
            snprintf(name, sizeof name, "child %ld ", child);
        }
        snprintf(line, sizeof line, "%sstep %" PRIu64 " sum %016" PRIx64 " %s\n", name, step, sum, right ? "ok" : "BAD");
        atomic_store(&counter, step);
        say(line);
        if (!right) {
            return 1;
        }
        if (options->forks && !options->churn) {
            watch_children();
        }
        struct timespec pause = {options->interval_ms / 1000, options->interval_ms % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    company_end();
    return 0;
}

static long number(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || end == text || value < 0) {
        fprintf(stderr, "gpu-counter: a number of 0 or more is wanted, got '%s'\n", text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv) {
    struct options o = {.mib = 16, .interval_ms = 50, .from = 1};
    static const struct option names[] = {
        {"mib", 1, 0, 'm'},    {"interval-ms", 1, 0, 'i'}, {"steps", 1, 0, 's'},  {"device", 1, 0, 'd'},
        {"threads", 1, 0, 't'}, {"file", 1, 0, 'f'},        {"listen", 1, 0, 'l'}, {"shm", 0, 0, 'S'},
        {"deleted-file", 0, 0, 'D'}, {"managed", 0, 0, 'M'}, {"ballast", 1, 0, 'B'}, {"peer", 0, 0, 'p'}, {"nccl", 0, 0, 'n'},  {"fork", 1, 0, 'F'},
        {"churn", 0, 0, 'c'},  {"busy-writer", 0, 0, 'b'}, {"idle-child", 0, 0, 'I'}, {"loader", 0, 0, 'L'}, {"loopback", 0, 0, 'O'}, {"own-address", 0, 0, 'A'}, {"io-uring", 0, 0, 'u'}, {"kernel-ms", 1, 0, 'k'}, {"verify", 1, 0, 'v'}, {"from", 1, 0, 'V'}, {"odd", 1, 0, 'o'}, {"link", 1, 0, 'K'}, {"launcher", 0, 0, 'R'}, {"pause", 0, 0, 'P'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'm': o.mib = number(optarg); break;
        case 'i': o.interval_ms = number(optarg); break;
        case 's': o.steps = number(optarg); break;
        case 'd': o.device = number(optarg); break;
        case 't': o.threads = number(optarg); break;
        case 'f': o.file = optarg; break;
        case 'l': o.port = number(optarg); break;
        case 'S': o.shm = 1; break;
        case 'D': o.deleted_file = 1; break;
        case 'M': o.managed = 1; break;
        case 'B': o.ballast = number(optarg); break;
        case 'p': o.peer = 1; break;
        case 'n': o.nccl = 1; break;
        case 'F': o.forks = number(optarg); break;
        case 'c': o.churn = 1; break;
        case 'b': o.busy_writer = 1; break;
        case 'I': o.idle_child = 1; break;
        case 'L': o.loader = 1; break;
        case 'O': o.loopback = 1; break;
        case 'A': o.own_address = 1; break;
        case 'u': o.io_uring = 1; break;
        case 'k': o.kernel_ms = number(optarg); break;
        case 'v': o.verify = optarg; break;
        case 'o': o.odd = optarg; break;
        case 'K': o.link = optarg; break;
        case 'R': o.launcher = 1; break;
        case 'P': return pause();
        case 'V': o.from = number(optarg); break;
        default: fputs(usage, option == 'h' ? stdout : stderr); return option == 'h' ? 0 : 2;
        }
    }
    if (o.mib == 0 || optind != argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (o.verify) {
        return verify_log(o.verify, (uint64_t)o.mib, (uint64_t)o.from);
    }
    if (o.file && (log_file = open(o.file, O_WRONLY | O_CREAT | O_APPEND, 0644)) < 0) {
        perror(o.file);
        return 3;
    }
    struct sigaction action = {.sa_handler = on_term};
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_usr1;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_usr2;
    sigaction(SIGUSR2, &action, NULL);
    if (o.idle_child) {
        have_idle_child();
    }
    if (o.odd) {
        odd_start(o.odd);
    }
    if (o.link) {
        link_start(o.link);
    }
    if (o.launcher) {
        launch(o.link != NULL);
    }
    be_many(o.forks);
    if (o.link) {
        link_keep(child != 0);
    }
    if (child) {
        o.port = 0;
    }
    return count(&o);
}
