/* The table of a simulated node: opening and locking it, blocks of device memory and their owners. */
#define _GNU_SOURCE
#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_LOCK (1ull << 40)
#define OWNER_LOCK ((1ull << 40) + 4096)

static int open_folder(struct node *node, const char *folder) {
    char path[sizeof node->folder + 16];
    snprintf(node->folder, sizeof node->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/nvidiactl", node->folder);
    node->ctl = open(path, O_RDWR | O_CLOEXEC);
    if (node->ctl < 0) {
        return -errno;
    }
    struct stat st;
    if (fstat(node->ctl, &st) || st.st_size < (off_t)sizeof(struct board)) {
        close(node->ctl);
        return -ENODEV;
    }
    node->length = (size_t)st.st_size;
    /* Far from the program's memory, like the mappings of a real driver: the space beside that is
     * for the region. */
    void *map = mmap((void *)0x200000000ull, node->length, PROT_READ | PROT_WRITE, MAP_SHARED, node->ctl, 0);
    if (map == MAP_FAILED) {
        int error = errno;
        close(node->ctl);
        return -error;
    }
    node->board = map;
    if (node->board->magic != BOARD_MAGIC || node->board->version != BOARD_VERSION) {
        node_close(node);
        return -ENODEV;
    }
    return 0;
}

int node_open(struct node *node) {
    const char *home = getenv(BOARD_HOME_VARIABLE);
    if (home && *home && open_folder(node, home) == 0) {
        return 0;
    }
    return open_folder(node, "/dev");
}

void node_close(struct node *node) {
    munmap(node->board, node->length);
    close(node->ctl);
    node->board = NULL;
    node->ctl = -1;
}

int node_device(const struct node *node, int minor, int *fd) {
    char path[sizeof node->folder + 16];
    snprintf(path, sizeof path, "%s/nvidia%d", node->folder, minor);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return -errno;
    }
    struct stat st;
    struct board_label label;
    if (fstat(file, &st) || st.st_size <= LABEL_BYTES ||
        pread(file, &label, sizeof label, st.st_size - LABEL_BYTES) != sizeof label || label.magic != BOARD_MAGIC ||
        label.node != node->board->node || label.index >= node->board->gpus) {
        close(file);
        return -ENODEV;
    }
    *fd = file;
    return (int)label.index;
}

int node_holds(const struct node *node) {
    struct stat st;
    return fstat(node->ctl, &st) ? 0 : (int)st.st_nlink - 1;
}

static int lock(const struct node *node, int command, short type, uint64_t byte) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    int rc;
    do {
        rc = fcntl(node->ctl, command, &lock);
    } while (rc < 0 && errno == EINTR);
    return rc < 0 ? -errno : lock.l_type;
}

int node_lock_table(const struct node *node) {
    int rc = lock(node, F_OFD_SETLKW, F_WRLCK, TABLE_LOCK);
    return rc < 0 ? rc : 0;
}

void node_unlock_table(const struct node *node) { lock(node, F_OFD_SETLK, F_UNLCK, TABLE_LOCK); }

int node_try_lock(const struct node *node, uint64_t byte) { return lock(node, F_OFD_SETLK, F_WRLCK, byte) >= 0; }

void node_unlock(const struct node *node, uint64_t byte) { lock(node, F_OFD_SETLK, F_UNLCK, byte); }

int node_is_locked(const struct node *node, uint64_t byte) { return lock(node, F_OFD_GETLK, F_WRLCK, byte) != F_UNLCK; }

static uint16_t *owners(const struct node *node, int gpu) {
    return (uint16_t *)((char *)node->board + node->board->gpu[gpu].owners);
}

static void forget(const struct node *node, int owner) {
    for (uint32_t gpu = 0; gpu < node->board->gpus; gpu++) {
        uint16_t *map = owners(node, (int)gpu);
        for (uint32_t i = 0; i < node->board->gpu[gpu].blocks; i++) {
            if (map[i] == owner) {
                map[i] = 0;
            }
        }
    }
    node->board->owned[owner] = 0;
}

void board_reap(const struct node *node, int self) {
    for (int owner = 1; owner < MAX_OWNERS; owner++) {
        if (node->board->owned[owner] && owner != self && !node_is_locked(node, OWNER_LOCK + (uint64_t)owner)) {
            forget(node, owner);
        }
    }
}

int board_claim(const struct node *node) {
    board_reap(node, 0);
    for (int owner = 1; owner < MAX_OWNERS; owner++) {
        if (!node->board->owned[owner] && node_try_lock(node, OWNER_LOCK + (uint64_t)owner)) {
            node->board->owned[owner] = 1;
            return owner;
        }
    }
    return -ENOSPC;
}

void board_release(const struct node *node, int owner) {
    forget(node, owner);
    node_unlock(node, OWNER_LOCK + (uint64_t)owner);
}

uint32_t board_count(const struct node *node, int gpu, int owner) {
    const uint16_t *map = owners(node, gpu);
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->board->gpu[gpu].blocks; i++) {
        count += map[i] == owner;
    }
    return count;
}

int board_take(const struct node *node, int gpu, int owner, uint32_t count, uint32_t *blocks) {
    if (board_count(node, gpu, 0) < count) {
        return -ENOMEM;
    }
    uint16_t *map = owners(node, gpu);
    for (uint32_t i = 0, found = 0; found < count; i++) {
        if (map[i] == 0) {
            map[i] = (uint16_t)owner;
            blocks[found++] = i;
        }
    }
    return 0;
}

void board_list(const struct node *node, int gpu, int owner, uint32_t *blocks) {
    const uint16_t *map = owners(node, gpu);
    for (uint32_t i = 0; i < node->board->gpu[gpu].blocks; i++) {
        if (map[i] == owner) {
            *blocks++ = i + 1;
        }
    }
}

void board_give(const struct node *node, int gpu, uint32_t block) { owners(node, gpu)[block] = 0; }
