/* cuInit: the GPUs that this process sees, the descriptors that it holds for them, and the effect
 * of a fork. */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct process self = {.mutex = PTHREAD_MUTEX_INITIALIZER, .poison = -1};

/* In .data, not .bss, so that it is found in the writable mapping of the library's file. */
__attribute__((section(".data"), aligned(4096))) struct mailbox mailbox = {.magic = MAILBOX_MAGIC};

int view_open(struct view *view) {
    int rc = node_open(&view->node);
    if (rc) {
        return rc;
    }
    view->visible = 0;
    for (int minor = 0; minor < MAX_MINOR && view->visible < MAX_GPUS; minor++) {
        int index = node_device(&view->node, minor, &view->fd[view->visible]);
        if (index >= 0) {
            view->gpu[view->visible++] = index;
        }
    }
    return 0;
}

void view_close(struct view *view) {
    for (int i = 0; i < view->visible; i++) {
        close(view->fd[i]);
    }
    node_close(&view->node);
}

int poison_open(void) {
    uint64_t handled = 1; /* LANDLOCK_ACCESS_FS_EXECUTE */
    int fd = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (fd < 0) {
        fd = (int)syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC);
    }
    if (fd < 0) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 262 /* IPPROTO_MPTCP */);
    }
    return fd;
}

/* As with the real driver: a forked child has the descriptors, but neither the hidden thread nor
 * the right to call. */
static void in_child(void) {
    self.forked = self.initialised;
    /* These descriptors are what criu cannot dump in a child. */
    close(self.poison);
    self.poison = -1;
    mailbox.started = 0;
    gate_reset();
    self.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static CUresult attach(void) {
    struct view view;
    if (view_open(&view)) {
        return CUDA_ERROR_NO_DEVICE;
    }
    if (view.visible == 0 || (self.poison = poison_open()) < 0) {
        view_close(&view);
        return view.visible == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_OPERATING_SYSTEM;
    }
    node_lock_table(&view.node);
    int owner = board_claim(&view.node);
    node_unlock_table(&view.node);
    for (int i = 0; owner > 0 && i < view.visible; i++) {
        const struct board_gpu *gpu = &view.node.board->gpu[view.gpu[i]];
        self.pages[i] = 2 * gpu->blocks; /* addresses may be more scattered than memory */
        self.page[i] = mmap(NULL, self.pages[i] * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (self.page[i] == MAP_FAILED) {
            owner = -ENOMEM;
        }
        self.gpu[i] = view.gpu[i];
        self.fd[i] = view.fd[i];
        memcpy(self.uuid[i], gpu->uuid, sizeof gpu->uuid);
        memcpy(self.name[i], gpu->name, sizeof gpu->name);
    }
    if (owner < 0 || getrandom(&mailbox.id, sizeof mailbox.id, 0) != sizeof mailbox.id) {
        view_close(&view);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    self.visible = view.visible;
    self.node = view.node;
    mailbox.node = view.node.board->node;
    mailbox.owner = (uint32_t)owner;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuInit(unsigned flags) {
    if (flags) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (self.forked) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    pthread_mutex_lock(&self.mutex);
    CUresult result = CUDA_SUCCESS;
    if (!self.initialised && (result = attach()) == CUDA_SUCCESS) {
        pthread_atfork(NULL, NULL, in_child);
        result = hidden_start() ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
        self.initialised = result == CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&self.mutex);
    return result;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    struct node node;
    if (!version) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *version = 13000;
    if (node_open(&node) == 0) {
        *version = node.board->cuda;
        node_close(&node);
    }
    return CUDA_SUCCESS;
}
