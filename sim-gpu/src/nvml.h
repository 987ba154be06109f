/* The part of nvml.h that the simulated library implements, with its layouts and numbers. */
#ifndef SIM_NVML_H
#define SIM_NVML_H

#include "board.h"

typedef int nvmlReturn_t;
typedef struct gpu_handle *nvmlDevice_t;

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_UNKNOWN = 999,
};

enum { NVML_TOPOLOGY_INTERNAL = 0, NVML_TOPOLOGY_HOSTBRIDGE = 30, NVML_TOPOLOGY_NODE = 40 };
enum { NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_NOT_SUPPORTED = 5, NVML_P2P_CAPS_INDEX_NVLINK = 2, NVML_P2P_CAPS_INDEX_LAST = 4 };
enum { NVML_NVLINK_MAX_LINKS = 18 };

typedef struct {
    uint64_t total, free, used;
} nvmlMemory_t;

typedef struct {
    char busIdLegacy[16];
    uint32_t domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

typedef struct {
    uint32_t pid;
    uint64_t usedGpuMemory;
    uint32_t gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

_Static_assert(sizeof(nvmlPciInfo_t) == 68, "pci info");
_Static_assert(sizeof(nvmlProcessInfo_t) == 24, "process info");

#define EXPORT __attribute__((visibility("default")))

/* The living processes with memory on a GPU: their number, of which at most `room` are written. */
uint32_t processes_on(const struct node *node, int gpu, nvmlProcessInfo_t *to, uint32_t room);

#endif
