#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

#include "cuda-abi.h"

/* The device of the calling thread's current context, or -1. */
int context_ordinal(void);
void *context_current(void);
/* Of a wait for a context: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if a graph was being captured, which is invalid then. */
CUresult streams_invalidate(void);

#endif
