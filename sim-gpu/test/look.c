/*
 * look new PID MAPS: the anonymous memory that PID has and that the saved MAPS had not, one `address length merged|alone` a line.
 * look zero PID MAPS: writes zeros over it.   look hold PID: traces and stops every thread until killed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

struct range {
    uint64_t start, end;
};

static size_t ranges(const char *path, struct range *to, size_t room) {
    char line[1024], perms[5];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) && count < room) {
        uint64_t inode;
        int name = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64 " %n", &to[count].start, &to[count].end, perms, &inode,
                   &name) >= 4 && strcmp(perms, "rw-p") == 0 && inode == 0 && line[name] != '[') {
            count++;
        }
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static void found(const char *what, const char *pid, uint64_t start, uint64_t end, const struct range *in) {
    static char zeros[1 << 20];
    char path[64];
    printf("%" PRIx64 " %" PRIu64 " %s\n", start, end - start, in->start < start || in->end > end ? "merged" : "alone");
    if (strcmp(what, "zero") == 0) {
        snprintf(path, sizeof path, "/proc/%s/mem", pid);
        int fd = open(path, O_RDWR);
        for (uint64_t at = start; at < end; at += sizeof zeros) {
            size_t length = end - at < sizeof zeros ? end - at : sizeof zeros;
            if (pwrite(fd, zeros, length, (off_t)at) != (ssize_t)length) {
                perror(path);
                exit(1);
            }
        }
        close(fd);
    }
}

static int hold(const char *pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        pid_t tid = atoi(task->d_name);
        if (tid && (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0))) {
            perror("ptrace");
        }
    }
    puts("held");
    fflush(stdout);
    pause();
    return 0;
}

int main(int argc, char **argv) {
    static struct range before[4096], now[4096];
    char path[64];
    if (argc == 3 && strcmp(argv[1], "hold") == 0) {
        return hold(argv[2]);
    }
    if (argc != 4) {
        return 2;
    }
    size_t old = ranges(argv[3], before, 4096);
    snprintf(path, sizeof path, "/proc/%s/maps", argv[2]);
    size_t count = ranges(path, now, 4096);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = now[i].start;
        for (size_t j = 0; j < old && at < now[i].end; j++) {
            if (before[j].end <= at || before[j].start >= now[i].end) {
                continue;
            }
            if (before[j].start > at) {
                found(argv[1], argv[2], at, before[j].start, &now[i]);
            }
            at = before[j].end;
        }
        if (at < now[i].end) {
            found(argv[1], argv[2], at, now[i].end, &now[i]);
        }
    }
    return 0;
}
