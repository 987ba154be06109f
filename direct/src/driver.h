/* The functions of the driver that library and keeper call, with its layouts and numbers. */
#ifndef STASIS_DRIVER_H
#define STASIS_DRIVER_H
#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
enum { OUT_OF_MEMORY = 2, NOT_SUPPORTED = 801 };
typedef struct {
    int32_t type, requested, location_type, location_id;
    void *win32;
    uint8_t flags[8];
} CUmemAllocationProp;
typedef struct { int32_t location_type, location_id, flags; } CUmemAccessDesc;

#define DRIVER_FUNCTIONS(X) \
    X(cuInit, "cuInit", (unsigned)) X(cuGetErrorName, "cuGetErrorName", (CUresult, const char **)) \
    X(cuDeviceGetCount, "cuDeviceGetCount", (int *)) X(cuDeviceGetUuid, "cuDeviceGetUuid_v2", (void *, int)) \
    X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", (int, unsigned *, int *)) X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **, int)) \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (int)) X(cuCtxGetDevice, "cuCtxGetDevice", (int *)) \
    X(cuCtxGetCurrent, "cuCtxGetCurrent", (void **)) X(cuCtxSetCurrent, "cuCtxSetCurrent", (void *)) \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void)) X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *)) \
    X(cuMemAlloc, "cuMemAlloc_v2", (uint64_t *, size_t)) X(cuMemFree, "cuMemFree_v2", (uint64_t)) \
    X(cuMemAddressReserve, "cuMemAddressReserve", (uint64_t *, size_t, size_t, uint64_t, uint64_t)) X(cuMemAddressFree, "cuMemAddressFree", (uint64_t, size_t)) \
    X(cuMemCreate, "cuMemCreate", (uint64_t *, size_t, const CUmemAllocationProp *, uint64_t)) X(cuMemRelease, "cuMemRelease", (uint64_t)) \
    X(cuMemMap, "cuMemMap", (uint64_t, size_t, size_t, uint64_t, uint64_t)) X(cuMemUnmap, "cuMemUnmap", (uint64_t, size_t)) \
    X(cuMemSetAccess, "cuMemSetAccess", (uint64_t, size_t, const CUmemAccessDesc *, size_t)) \
    X(cuMemExport, "cuMemExportToShareableHandle", (void *, uint64_t, int, uint64_t)) X(cuMemImport, "cuMemImportFromShareableHandle", (uint64_t *, void *, int)) \
    X(cuMemHostRegister, "cuMemHostRegister_v2", (void *, size_t, unsigned)) X(cuMemHostUnregister, "cuMemHostUnregister", (void *)) \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (uint64_t, uint64_t, size_t, void *)) \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, uint64_t, size_t, void *)) \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *)) X(cuStreamCreate, "cuStreamCreate", (void **, unsigned)) \
    X(cuStreamSynchronize, "cuStreamSynchronize", (void *))
#define DECLARE(name, symbol, arguments) CUresult(*name) arguments;
/* In the library, NULL where the driver has none. */
extern struct driver { DRIVER_FUNCTIONS(DECLARE) } driver;
#endif
