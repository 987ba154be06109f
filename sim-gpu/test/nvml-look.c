/* nvml-look: what libnvidia-ml.so.1 says, a fact a line. */
#include "../src/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

#define CALL(name, ...) ((nvmlReturn_t(*)(__VA_ARGS__))symbol(#name))

static void *symbol(const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return found;
}

static void look_at(unsigned i, nvmlDevice_t device) {
    char uuid[96], name[96];
    nvmlMemory_t memory;
    nvmlPciInfo_t pci;
    nvmlProcessInfo_t infos[64];
    unsigned count = 64, mig, pending;
    int major, minor, persistence;
    int wrong = CALL(nvmlDeviceGetUUID, nvmlDevice_t, char *, unsigned)(device, uuid, sizeof uuid) |
                CALL(nvmlDeviceGetName, nvmlDevice_t, char *, unsigned)(device, name, sizeof name) |
                CALL(nvmlDeviceGetMemoryInfo, nvmlDevice_t, nvmlMemory_t *)(device, &memory) |
                CALL(nvmlDeviceGetPciInfo_v3, nvmlDevice_t, nvmlPciInfo_t *)(device, &pci) |
                CALL(nvmlDeviceGetCudaComputeCapability, nvmlDevice_t, int *, int *)(device, &major, &minor) |
                CALL(nvmlDeviceGetMigMode, nvmlDevice_t, unsigned *, unsigned *)(device, &mig, &pending) |
                CALL(nvmlDeviceGetPersistenceMode, nvmlDevice_t, int *)(device, &persistence) |
                CALL(nvmlDeviceGetComputeRunningProcesses_v3, nvmlDevice_t, unsigned *, nvmlProcessInfo_t *)(device, &count, infos);
    printf("gpu %u wrong=%d %s %s %s cc=%d.%d mig=%u persistence=%d total=%llu used=%llu\n", i, wrong, uuid, pci.busId, name, major,
           minor, mig, persistence, (unsigned long long)memory.total >> 20, (unsigned long long)memory.used >> 18);
    for (unsigned p = 0; p < count; p++) {
        printf("process %u on %u has %llu\n", infos[p].pid, i, (unsigned long long)infos[p].usedGpuMemory >> 18);
    }
    count = 0;
    printf("room %u gives %d\n", i, CALL(nvmlDeviceGetComputeRunningProcesses_v3, nvmlDevice_t, unsigned *, nvmlProcessInfo_t *)(device, &count, NULL));
    for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; link++) {
        int active = 0;
        CALL(nvmlDeviceGetNvLinkState, nvmlDevice_t, unsigned, int *)(device, link, &active);
        if (active && CALL(nvmlDeviceGetNvLinkRemotePciInfo_v2, nvmlDevice_t, unsigned, nvmlPciInfo_t *)(device, link, &pci) == 0) {
            printf("link %u %u %s\n", i, link, pci.busId);
        }
    }
}

int main(void) {
    char driver[96];
    unsigned count;
    nvmlDevice_t device[16];
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int rc = CALL(nvmlInit_v2, void)();
    if (rc) {
        printf("init %d\n", rc);
        return 1;
    }
    CALL(nvmlSystemGetDriverVersion, char *, unsigned)(driver, sizeof driver);
    CALL(nvmlDeviceGetCount_v2, unsigned *)(&count);
    printf("driver %s gpus %u\n", driver, count);
    for (unsigned i = 0; i < count; i++) {
        CALL(nvmlDeviceGetHandleByIndex_v2, unsigned, nvmlDevice_t *)(i, &device[i]);
        look_at(i, device[i]);
        for (unsigned j = 0; j < i; j++) {
            int level = -1, p2p = -1;
            CALL(nvmlDeviceGetTopologyCommonAncestor, nvmlDevice_t, nvmlDevice_t, int *)(device[i], device[j], &level);
            CALL(nvmlDeviceGetP2PStatus, nvmlDevice_t, nvmlDevice_t, int, int *)(device[i], device[j], 2, &p2p);
            printf("pair %u %u level=%d p2p=%d\n", j, i, level, p2p);
        }
    }
    return CALL(nvmlShutdown, void)();
}
