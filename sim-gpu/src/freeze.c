/* Checkpoint and Restore: copies device bytes into host memory of the process, and back to the GPU
 * that it sees now. */
#define _GNU_SOURCE
#include "hidden.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t device_bytes(void) { return walk_count(-1) * BLOCK_BYTES; }

/* State of the contexts, stored after the device bytes; 1 if it matches what was written. */
static int context_state(uint8_t *at, int write) {
    uint64_t value = mailbox.id | 1;
    int same = 1;
    for (uint64_t i = 0; i < CONTEXT_STATE_BYTES / sizeof value; i++) {
        value = value * 6364136223846793005ull + 1442695040888963407ull;
        if (write) {
            ((uint64_t *)(void *)at)[i] = value;
        } else {
            same &= ((uint64_t *)(void *)at)[i] == value;
        }
    }
    return same;
}

/* Every page in use, in the order of the walk: *host is its content. 1 if a fault ended it. */
static int transfer(int in, const struct fault *fault, uint32_t slow_us_per_mib, CUresult *result) {
    uint8_t *host = region_base();
    uint64_t total = device_bytes(), done = 0;
    int faulted = fault->at != AT_MIDDLE;
    struct walk walk = WALK_START;
    int gpu;
    for (uint32_t *page; (page = walk_next(&walk, &gpu));) {
        off_t at = (off_t)(*page - 1) * BLOCK_BYTES;
        ssize_t n = in ? pwrite(self.fd[gpu], host + done, BLOCK_BYTES, at) : pread(self.fd[gpu], host + done, BLOCK_BYTES, at);
        if (n != BLOCK_BYTES) {
            mailbox.state = STATE_FAILED;
            *result = CUDA_ERROR_UNKNOWN;
            return 1;
        }
        done += BLOCK_BYTES;
        if (done % PIECE == 0) {
            hidden_serve_meanwhile();
            hidden_work(slow_us_per_mib / 1000, 1);
        }
        if (!faulted && done >= total / 2) {
            faulted = 1;
            if (hidden_fault(fault, result)) {
                return 1;
            }
        }
    }
    return !faulted && hidden_fault(fault, result);
}

/* The memory that is left on the device is overwritten, so that it cannot be read again, except
 * memory that other processes hold too. */
static void spoil(void) {
    static uint32_t garbage[BLOCK_BYTES / sizeof(uint32_t)];
    struct walk walk = WALK_START;
    int gpu;
    for (uint32_t *page; (page = walk_next(&walk, &gpu));) {
        if (walk.backing >= 0 && self.backing[walk.backing].shared) {
            continue;
        }
        for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
            garbage[i] = (uint32_t)(i * 2654435761u) ^ *page ^ 0xdeadbeefu;
        }
        if (pwrite(self.fd[gpu], garbage, sizeof garbage, (off_t)(*page - 1) * BLOCK_BYTES) < 0) {
            mailbox.state = STATE_FAILED;
        }
    }
}

/* Frees the device memory, and closes every descriptor and mapping of a device. */
static void detach(void) {
    struct walk walk = WALK_START;
    int gpu;
    for (uint32_t *page; (page = walk_next(&walk, &gpu));) {
        *page = PAGE_AWAY;
    }
    vmm_leave();
    node_lock_table(&self.node);
    board_release(&self.node, (int)mailbox.owner);
    node_unlock_table(&self.node);
    mailbox.owner = 0;
    for (int i = 0; i < self.visible; i++) {
        close(self.fd[i]);
        self.fd[i] = -1;
    }
    close(self.poison);
    self.poison = -1;
    node_close(&self.node);
}

CUresult freeze_out(const struct fault *fault) {
    CUresult result = CUDA_SUCCESS;
    if (self.managed_count) {
        hidden_work(150, 1);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    uint64_t bytes = device_bytes();
    uint32_t slow = self.node.board->slow_us_per_mib;
    if (region_map(bytes + CONTEXT_STATE_BYTES, (int)self.node.board->merge)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (fault->at == AT_POPULATE && hidden_fault(fault, &result)) {
        region_unmap();
        return result;
    }
    if (region_populate(bytes + CONTEXT_STATE_BYTES, slow)) {
        region_unmap();
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mailbox.state = STATE_CHECKPOINTED; /* reported already, though the copy has not run yet */
    if (transfer(0, fault, slow, &result)) {
        if (mailbox.state == STATE_CHECKPOINTED) {
            mailbox.state = STATE_LOCKED;
            region_unmap();
        }
        return result;
    }
    context_state(region_base() + bytes, 1);
    /* Checkpointed without an error, and not restored: NCCL's memory, shared by descriptors, on
     * real GPUs. */
    self.peer |= vmm_shared();
    spoil();
    detach();
    return CUDA_SUCCESS;
}

static int find_uuid(const struct view *view, const uint8_t *uuid) {
    for (int i = 0; i < view->visible; i++) {
        if (memcmp(view->node.board->gpu[view->gpu[i]].uuid, uuid, 16) == 0) {
            return i;
        }
    }
    return -1;
}

/* The GPU of the view for each old one. */
static CUresult match(const struct view *view, const struct slot *request, int *chosen) {
    if (request->pairs && request->pairs != (uint32_t)self.visible) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < self.visible; i++) {
        chosen[i] = i < view->visible ? i : -1;
        int named = 0;
        for (uint32_t p = 0; p < request->pairs; p++) {
            if (memcmp(request->pair[p].from, self.uuid[i], 16) == 0) {
                named++;
                chosen[i] = find_uuid(view, request->pair[p].to);
            }
        }
        if (request->pairs && named != 1) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        for (int j = 0; j < i; j++) {
            if (chosen[i] >= 0 && chosen[i] == chosen[j]) {
                return CUDA_ERROR_INVALID_VALUE;
            }
        }
    }
    for (int i = 0; i < self.visible; i++) {
        if (chosen[i] < 0 || strcmp(view->node.board->gpu[view->gpu[chosen[i]]].name, self.name[i]) != 0) {
            return CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    return CUDA_SUCCESS;
}

/* New blocks for all memory of the GPU; the table is locked. */
static int take_gpu(const struct view *view, int index, int gpu, int owner) {
    uint32_t own = 0, taken = 0;
    for (uint32_t i = 0; i < self.pages[gpu]; i++) {
        own += self.page[gpu][i] == PAGE_AWAY;
    }
    size_t room = (own + 1) * sizeof(uint32_t);
    uint32_t *blocks = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int short_of = blocks == MAP_FAILED || board_take(&view->node, index, owner, own, blocks);
    for (uint32_t i = 0; !short_of && i < self.pages[gpu]; i++) {
        if (self.page[gpu][i] == PAGE_AWAY) {
            self.page[gpu][i] = blocks[taken++] + 1;
        }
    }
    munmap(blocks, room);
    for (int i = 0; i < MAX_BACKINGS && !short_of; i++) {
        struct backing *backing = &self.backing[i];
        short_of = backing->used && backing->ordinal == gpu && vmm_claim(backing, &view->node, index, backing->block);
    }
    return short_of;
}

static int take_memory(const struct view *view, const int *chosen) {
    node_lock_table(&view->node);
    int owner = board_claim(&view->node), short_of = owner < 0;
    for (int i = 0; !short_of && i < self.visible; i++) {
        short_of = board_count(&view->node, view->gpu[chosen[i]], 0) < walk_count(i);
    }
    for (int gpu = 0; gpu < self.visible && !short_of; gpu++) {
        short_of = take_gpu(view, view->gpu[chosen[gpu]], gpu, owner);
    }
    if (short_of && owner > 0) {
        board_release(&view->node, owner);
    }
    node_unlock_table(&view->node);
    mailbox.owner = short_of ? 0 : (uint32_t)owner;
    return short_of;
}

static void adopt(const struct view *view, const int *chosen) {
    int taken = 0;
    for (int i = 0; i < self.visible; i++) {
        const struct board_gpu *gpu = &view->node.board->gpu[view->gpu[chosen[i]]];
        self.gpu[i] = view->gpu[chosen[i]];
        self.fd[i] = view->fd[chosen[i]];
        taken |= 1 << chosen[i];
        memcpy(self.uuid[i], gpu->uuid, sizeof gpu->uuid);
    }
    for (int i = 0; i < view->visible; i++) {
        if (!(taken & 1 << i)) {
            close(view->fd[i]);
        }
    }
    self.node = view->node;
    mailbox.node = view->node.board->node;
    self.poison = poison_open();
}

CUresult freeze_in(const struct slot *request) {
    struct view view;
    int chosen[MAX_GPUS];
    if (self.wedged) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (view_open(&view)) {
        self.wedged = 1;
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult result = match(&view, request, chosen);
    if (result == CUDA_SUCCESS && self.peer) {
        result = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (result == CUDA_SUCCESS && take_memory(&view, chosen)) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result) {
        self.wedged = result != CUDA_ERROR_INVALID_VALUE;
        view_close(&view);
        hidden_work(10, 0);
        return result;
    }
    adopt(&view, chosen);
    vmm_adopt();
    mailbox.state = STATE_LOCKED; /* reported already, though the copy has not run yet */
    uint64_t bytes = device_bytes();
    if (transfer(1, &request->fault, self.node.board->slow_us_per_mib, &result)) {
        if (mailbox.state == STATE_LOCKED) {
            mailbox.state = STATE_CHECKPOINTED;
            detach();
        }
        return result;
    }
    self.context_broken |= !context_state(region_base() + bytes, 0);
    region_unmap();
    self.resumed = 1;
    return CUDA_SUCCESS;
}
