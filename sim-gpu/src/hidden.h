#ifndef SIM_HIDDEN_H
#define SIM_HIDDEN_H

#include "cuda-abi.h"
#include "mailbox.h"

/* Lets a fault happen; 1 when the call ends here, with *result. */
int hidden_fault(const struct fault *fault, CUresult *result);

#endif
