/* The part of cuda.h (CUDA 13.0) that the simulated driver implements, with its layouts and
 * numbers. */
#ifndef SIM_CUDA_ABI_H
#define SIM_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct {
    uint8_t bytes[16];
} CUuuid;

typedef struct {
    int32_t type, requestedHandleTypes, locationType, locationId;
    void *win32HandleMetaData;
    uint8_t allocFlags[8];
} CUmemAllocationProp;

typedef struct {
    int32_t locationType, locationId, flags;
} CUmemAccessDesc;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_UNKNOWN = 999,
};

enum { STATE_RUNNING = 0, STATE_LOCKED = 1, STATE_CHECKPOINTED = 2, STATE_FAILED = 3 };

typedef struct {
    uint32_t timeoutMs;
    uint32_t reserved0;
    uint64_t reserved1[7];
} CUcheckpointLockArgs;

typedef struct {
    uint64_t reserved[8];
} CUcheckpointCheckpointArgs;

typedef struct {
    CUuuid oldUuid, newUuid;
} CUcheckpointGpuPair;

typedef struct {
    CUcheckpointGpuPair *gpuPairs;
    uint32_t gpuPairsCount;
    char reserved[44];
    uint64_t reserved1;
} CUcheckpointRestoreArgs;

typedef struct {
    uint64_t reserved[8];
} CUcheckpointUnlockArgs;

_Static_assert(sizeof(CUmemAllocationProp) == 32, "allocation properties");
_Static_assert(sizeof(CUmemAccessDesc) == 12, "access");
_Static_assert(sizeof(CUcheckpointLockArgs) == 64, "lock args");
_Static_assert(sizeof(CUcheckpointCheckpointArgs) == 64, "checkpoint args");
_Static_assert(sizeof(CUcheckpointRestoreArgs) == 64, "restore args");
_Static_assert(offsetof(CUcheckpointRestoreArgs, reserved1) == 56, "restore args");
_Static_assert(sizeof(CUcheckpointUnlockArgs) == 64, "unlock args");
_Static_assert(sizeof(CUcheckpointGpuPair) == 32, "pair");

#define EXPORT __attribute__((visibility("default")))

#endif
