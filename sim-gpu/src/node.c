/* sim-gpu-node: creates the folder that represents the GPUs of a node. */
#define _GNU_SOURCE
#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: sim-gpu-node DIR GPUS MIB [--model NAME] [--driver 580.159.04] [--cuda 13000] [--no-merge]\n"
    "                    [--slow-us-per-mib N] [--killed-caller finish|failed|hang] [--links N] [--mig] [--no-persistence]\n"
    "                    [--switch-ms 4200]\n";

static void die(const char *what) {
    fprintf(stderr, "sim-gpu-node: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int create(const char *folder, const char *name, int index, off_t length) {
    char path[4096], temp[4096];
    snprintf(temp, sizeof temp, index < 0 ? "%s/%s" : "%s/%s%d", folder, name, index);
    snprintf(path, sizeof path, "%s", temp);
    unlink(path); /* processes of the old node keep their old files */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || fchmod(fd, 0666)) {
        die(path);
    }
    /* Allocated here, so that no container's memory cgroup is charged for what it writes to a GPU. */
    int rc = posix_fallocate(fd, 0, length);
    if (rc) {
        errno = rc;
        die(path);
    }
    return fd;
}

static void number(const char *text, long least, long most, const char *what, long *value) {
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    if (errno || *end || end == text || *value < least || *value > most) {
        fprintf(stderr, "sim-gpu-node: %s must be a number from %ld to %ld, got '%s'\n", what, least, most, text);
        exit(2);
    }
}

static uint32_t killed_caller(const char *text) {
    static const char *const ways[] = {[KILLED_FINISH] = "finish", [KILLED_FAILED] = "failed", [KILLED_HANG] = "hang"};
    for (uint32_t i = KILLED_FINISH; i <= KILLED_HANG; i++) {
        if (strcmp(text, ways[i]) == 0) {
            return i;
        }
    }
    fprintf(stderr, "sim-gpu-node: --killed-caller must be finish, failed or hang, got '%s'\n", text);
    exit(2);
}

static void describe_gpu(struct board *board, int i, const char *model, uint32_t blocks, uint64_t owners) {
    struct board_gpu *gpu = &board->gpu[i];
    if (getrandom(gpu->uuid, sizeof gpu->uuid, 0) != sizeof gpu->uuid) {
        die("getrandom");
    }
    snprintf(gpu->name, sizeof gpu->name, "%s", model);
    gpu->bus = 0x10 + 0x10 * (uint32_t)i;
    gpu->major = 9;
    gpu->blocks = blocks;
    gpu->owners = owners;
}

int main(int argc, char **argv) {
    struct board board = {
        .magic = BOARD_MAGIC, .version = BOARD_VERSION, .driver = "580.159.04", .cuda = 13000, .merge = 1, .switch_ms = 4200};
    const char *model = "NVIDIA H200";
    long value, links = 0;
    static const struct option options[] = {
        {"model", 1, 0, 'm'}, {"driver", 1, 0, 'd'},        {"cuda", 1, 0, 'c'},  {"no-merge", 0, 0, 'n'},
        {"help", 0, 0, 'h'},  {"slow-us-per-mib", 1, 0, 's'}, {"killed-caller", 1, 0, 'k'}, {"links", 1, 0, 'l'}, {"mig", 0, 0, 'M'}, {"no-persistence", 0, 0, 'P'}, {"switch-ms", 1, 0, 'w'},
        {0, 0, 0, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'm': model = optarg; break;
        case 'd': snprintf(board.driver, sizeof board.driver, "%s", optarg); break;
        case 'c': number(optarg, 10000, 99999, "--cuda", &value); board.cuda = (int)value; break;
        case 'M': board.mig = 1; break;
        case 'P': board.no_persistence = 1; break;
        case 'n': board.merge = 0; break;
        case 'w': number(optarg, 1, 60000, "--switch-ms", &value); board.switch_ms = (uint32_t)value; break;
        case 's': number(optarg, 0, 1000000, "--slow-us-per-mib", &value); board.slow_us_per_mib = (uint32_t)value; break;
        case 'l': number(optarg, 0, 18, "--links", &links); break;
        case 'k': board.killed_caller = killed_caller(optarg); break;
        default: fputs(usage, option == 'h' ? stdout : stderr); return option == 'h' ? 0 : 2;
        }
    }
    if (argc - optind != 3) {
        fputs(usage, stderr);
        return 2;
    }
    const char *folder = argv[optind];
    long gpus, mib;
    number(argv[optind + 1], 1, MAX_GPUS, "GPUS", &gpus);
    number(argv[optind + 2], 1, 131072, "MIB", &mib);
    umask(0);
    if ((mkdir(folder, 0755) && errno != EEXIST) || chmod(folder, 0755)) {
        die(folder);
    }
    char faults[4096];
    snprintf(faults, sizeof faults, "%s/faults", folder);
    if (mkdir(faults, 0777) && errno != EEXIST) {
        die(faults);
    }
    board.gpus = (uint32_t)gpus;
    if (getrandom(&board.node, sizeof board.node, 0) != sizeof board.node) {
        die("getrandom");
    }
    uint32_t blocks = (uint32_t)(mib * ((1 << 20) / BLOCK_BYTES));
    uint64_t end = (sizeof board + 4095) & ~4095ull;
    for (int i = 0; i < gpus; i++) {
        describe_gpu(&board, i, model, blocks, end);
        end += (blocks * sizeof(uint16_t) + 4095) & ~4095ull;
        for (int j = 0; j < gpus; j++) {
            board.link[i][j] = i == j ? 0 : (uint8_t)links;
        }
    }
    for (int i = 0; i < gpus; i++) {
        off_t bytes = (off_t)blocks * BLOCK_BYTES;
        int fd = create(folder, "nvidia", i, bytes + LABEL_BYTES);
        struct board_label label = {BOARD_MAGIC, board.node, (uint32_t)i};
        if (pwrite(fd, &label, sizeof label, bytes) != sizeof label) {
            die("label");
        }
        close(fd);
    }
    int ctl = create(folder, "nvidiactl", -1, (off_t)end);
    if (pwrite(ctl, &board, sizeof board, 0) != sizeof board) {
        die("nvidiactl");
    }
    for (int i = 0; i < gpus; i++) {
        const uint8_t *u = board.gpu[i].uuid;
        printf("nvidia%d GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x %s %ld MiB\n", i, u[0], u[1],
               u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15], board.gpu[i].name,
               mib);
    }
    return 0;
}
