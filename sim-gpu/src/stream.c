/* Streams, events, asynchronous copies, and pinned host memory. Here everything is executed
 * synchronously. */
#define _GNU_SOURCE
#include "context.h"
#include "process.h"

#include <stdbool.h>
#include <sys/mman.h>

static CUresult pass(void) {
    CUresult result = gate_enter();
    if (result == CUDA_SUCCESS) {
        gate_leave();
        return context_ordinal() < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    }
    return result;
}

/* What a stream is; a graph is captured without its nodes. */
enum { STREAMS = 1024, FIRST_STREAM = 0x1000 };
enum { STREAM_FREE, STREAM_MADE, STREAM_CAPTURING, STREAM_INVALIDATED };
static uint8_t streams[STREAMS];

static uint8_t *stream_of(void *handle) {
    uintptr_t index = (uintptr_t)handle - FIRST_STREAM;
    return index < STREAMS && streams[index] != STREAM_FREE ? &streams[index] : NULL;
}

static bool change(uint8_t *stream, uint8_t from, uint8_t to) {
    return __atomic_compare_exchange_n(stream, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

CUresult streams_invalidate(void) {
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < STREAMS; i++) {
        if (change(&streams[i], STREAM_CAPTURING, STREAM_INVALIDATED)) result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

EXPORT CUresult cuStreamCreate(void **stream, unsigned flags) {
    (void)flags;
    for (uintptr_t i = 0; i < STREAMS; i++) {
        if (change(&streams[i], STREAM_FREE, STREAM_MADE)) {
            *stream = (void *)(FIRST_STREAM + i);
            return pass();
        }
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuStreamDestroy_v2(void *handle) {
    uint8_t *stream = stream_of(handle);
    if (!stream) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *stream = STREAM_FREE;
    return pass();
}

EXPORT CUresult cuStreamDestroy(void *handle) { return cuStreamDestroy_v2(handle); }

EXPORT CUresult cuStreamBeginCapture_v2(void *handle, int mode) {
    (void)mode;
    uint8_t *stream = stream_of(handle);
    return stream && change(stream, STREAM_MADE, STREAM_CAPTURING) ? pass() : CUDA_ERROR_ILLEGAL_STATE;
}

EXPORT CUresult cuStreamEndCapture(void *handle, void **graph) {
    uint8_t *stream = stream_of(handle);
    if (stream && change(stream, STREAM_CAPTURING, STREAM_MADE)) {
        *graph = stream;
        return pass();
    }
    return stream && change(stream, STREAM_INVALIDATED, STREAM_MADE) ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_ILLEGAL_STATE;
}

EXPORT CUresult cuStreamSynchronize(void *stream) {
    (void)stream;
    return pass();
}

static CUresult copy(CUdeviceptr address, void *host, size_t bytes, int write) {
    CUresult result = pass();
    if (result == CUDA_SUCCESS && (result = gate_enter()) == CUDA_SUCCESS) {
        result = memory_copy(address, host, bytes, write);
        gate_leave();
    }
    return result;
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    CUresult result = process_fault(CALL_TO_DEVICE);
    return result ? result : copy(to, (void *)(uintptr_t)from, bytes, 1);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, void *stream) {
    (void)stream;
    CUresult result = process_fault(CALL_FROM_DEVICE);
    return result ? result : copy(from, to, bytes, 0);
}

EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    char piece[65536];
    CUresult result = process_fault(CALL_WITHIN_DEVICE);
    for (size_t done = 0, n; done < bytes && result == CUDA_SUCCESS; done += n) {
        n = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        result = copy(from + done, piece, n, 0);
        result = result ? result : copy(to + done, piece, n, 1);
    }
    return result;
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream) {
    (void)stream;
    return cuMemcpyDtoD_v2(to, from, bytes);
}

EXPORT CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    (void)flags;
    return address && bytes ? pass() : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemHostUnregister(void *address) { return address ? pass() : CUDA_ERROR_INVALID_VALUE; }

/* Sparse arrays: none exist here. */
EXPORT CUresult cuMemMapArrayAsync(void *list, unsigned count, void *stream) {
    return list && count && stream ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemMapArrayAsync_ptsz(void *list, unsigned count, void *stream) { return cuMemMapArrayAsync(list, count, stream); }

/* A dma-buf, which no device uses here. */
EXPORT CUresult cuMemGetHandleForAddressRange(int *handle, CUdeviceptr address, size_t bytes, int type, uint64_t flags) {
    if (!handle || !address || !bytes || type != 1 || flags) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = memfd_create("dmabuf", MFD_CLOEXEC);
    return *handle < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
