/* libnvidia-ml.so.1: the hardware of the node. */
#define _GNU_SOURCE
#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gpu_handle {
    int index, minor; /* on the board, and of its device file */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int users;
static struct node node;
static struct gpu_handle handle[MAX_GPUS];
static int handles;

static nvmlReturn_t attach(void) {
    if (node_open(&node)) {
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    handles = 0;
    for (int minor = 0; minor < MAX_MINOR && handles < MAX_GPUS; minor++) {
        int fd, index = node_device(&node, minor, &fd);
        if (index >= 0) {
            handle[handles++] = (struct gpu_handle){index, minor};
            close(fd);
        }
    }
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlInit_v2(void) {
    pthread_mutex_lock(&mutex);
    nvmlReturn_t result = users ? NVML_SUCCESS : attach();
    users += result == NVML_SUCCESS;
    pthread_mutex_unlock(&mutex);
    return result;
}

EXPORT nvmlReturn_t nvmlShutdown(void) {
    pthread_mutex_lock(&mutex);
    nvmlReturn_t result = users ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
    if (users && --users == 0) {
        node_close(&node);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

EXPORT const char *nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    default: return "Unknown Error";
    }
}

/* The first check of every call on a device. */
static nvmlReturn_t check(nvmlDevice_t device, const void *to) {
    if (!users) {
        return NVML_ERROR_UNINITIALIZED;
    }
    return device >= handle && device < handle + handles && to ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

static const struct board_gpu *gpu_of(nvmlDevice_t device) { return &node.board->gpu[device->index]; }

static nvmlReturn_t text(char *to, unsigned room, const char *from) {
    if (strlen(from) >= room) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    strcpy(to, from);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length) {
    if (!users || !version) {
        return users ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_UNINITIALIZED;
    }
    return text(version, length, node.board->driver);
}

EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
    if (!users || !version) {
        return users ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_UNINITIALIZED;
    }
    *version = (int)node.board->cuda;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) {
    if (!users || !count) {
        return users ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_UNINITIALIZED;
    }
    *count = (unsigned)handles;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
    if (!users || !device || index >= (unsigned)handles) {
        return users ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_UNINITIALIZED;
    }
    *device = &handle[index];
    return NVML_SUCCESS;
}

static void print_uuid(const struct board_gpu *gpu, char *to) {
    const uint8_t *u = gpu->uuid;
    sprintf(to, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5],
            u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length) {
    char found[64];
    nvmlReturn_t result = check(device, uuid);
    if (result) {
        return result;
    }
    print_uuid(gpu_of(device), found);
    return text(uuid, length, found);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    char found[64];
    for (int i = 0; users && uuid && device && i < handles; i++) {
        print_uuid(&node.board->gpu[handle[i].index], found);
        if (strcmp(found, uuid) == 0) {
            *device = &handle[i];
            return NVML_SUCCESS;
        }
    }
    return !users ? NVML_ERROR_UNINITIALIZED : uuid && device ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length) {
    nvmlReturn_t result = check(device, name);
    return result ? result : text(name, length, gpu_of(device)->name);
}

EXPORT nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *minor) {
    nvmlReturn_t result = check(device, minor);
    if (result == NVML_SUCCESS) {
        *minor = (unsigned)device->minor;
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    nvmlReturn_t result = check(device, memory);
    if (result) {
        return result;
    }
    pthread_mutex_lock(&mutex); /* the table's lock does not exclude threads of the same process */
    node_lock_table(&node);
    board_reap(&node, 0);
    memory->free = (uint64_t)board_count(&node, device->index, 0) * BLOCK_BYTES;
    node_unlock_table(&node);
    pthread_mutex_unlock(&mutex);
    memory->total = (uint64_t)gpu_of(device)->blocks * BLOCK_BYTES;
    memory->used = memory->total - memory->free;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos) {
    nvmlReturn_t result = check(device, count);
    if (result || (*count && !infos)) {
        return result ? result : NVML_ERROR_INVALID_ARGUMENT;
    }
    uint32_t found = processes_on(&node, device->index, infos, *count);
    result = found > *count ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
    *count = found;
    return result;
}

static void describe(const struct board_gpu *gpu, nvmlPciInfo_t *pci) {
    *pci = (nvmlPciInfo_t){.domain = gpu->domain, .bus = gpu->bus, .device = gpu->device, .pciDeviceId = 0x233510de};
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", gpu->domain & 0xffff, gpu->bus & 0xff, gpu->device & 0xff);
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", gpu->domain, gpu->bus, gpu->device);
}

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    nvmlReturn_t result = check(device, pci);
    if (result == NVML_SUCCESS) {
        describe(gpu_of(device), pci);
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    nvmlReturn_t result = check(device, major && minor ? device : NULL);
    if (result == NVML_SUCCESS) {
        *major = (int)gpu_of(device)->major;
        *minor = (int)gpu_of(device)->minor;
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *now, unsigned *pending) {
    nvmlReturn_t result = check(device, now && pending ? device : NULL);
    if (result == NVML_SUCCESS) {
        *now = *pending = node.board->mig;
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int *mode) {
    nvmlReturn_t result = check(device, mode);
    if (result == NVML_SUCCESS) {
        *mode = !node.board->no_persistence;
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t two, int *level) {
    nvmlReturn_t result = check(one, level) ? check(one, level) : check(two, level);
    if (result == NVML_SUCCESS) {
        *level = one == two ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t two, int index, int *status) {
    nvmlReturn_t result = check(one, status) ? check(one, status) : check(two, status);
    if (result == NVML_SUCCESS && (index < 0 || index > NVML_P2P_CAPS_INDEX_LAST)) {
        result = NVML_ERROR_INVALID_ARGUMENT;
    }
    if (result == NVML_SUCCESS) {
        *status = node.board->link[one->index][two->index] ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
    }
    return result;
}

#define SWITCH (-2)

/* The GPU at the other end of a link, or -1. The links of a GPU go to the others in order; if it
 * has too few for that, all go to a switch, as on a board with eight. */
static int beyond(nvmlDevice_t device, unsigned link) {
    unsigned wanted = 0, most = 0;
    for (int other = 0; other < (int)node.board->gpus; other++) {
        unsigned links = node.board->link[device->index][other];
        wanted += links;
        most = links > most ? links : most;
    }
    if (wanted > NVML_NVLINK_MAX_LINKS) {
        return link < most ? SWITCH : -1;
    }
    for (int other = 0; other < (int)node.board->gpus; other++) {
        unsigned links = node.board->link[device->index][other];
        if (link < links) {
            return other;
        }
        link -= links;
    }
    return -1;
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, int *active) {
    nvmlReturn_t result = check(device, active);
    if (result || link >= NVML_NVLINK_MAX_LINKS) {
        return result ? result : NVML_ERROR_INVALID_ARGUMENT;
    }
    *active = beyond(device, link) != -1;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *pci) {
    nvmlReturn_t result = check(device, pci);
    if (result || link >= NVML_NVLINK_MAX_LINKS) {
        return result ? result : NVML_ERROR_INVALID_ARGUMENT;
    }
    int other = beyond(device, link);
    if (other == -1) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    if (other == SWITCH) {
        struct board_gpu end = {.bus = 0xc0};
        describe(&end, pci);
        return NVML_SUCCESS;
    }
    describe(&node.board->gpu[other], pci);
    return NVML_SUCCESS;
}
