#ifndef SIM_HIDDEN_H
#define SIM_HIDDEN_H

#include "cuda-abi.h"
#include "mailbox.h"

/* Executes a fault; 1 if the call ends here, with *result. */
int hidden_fault(const struct fault *fault, CUresult *result);

#endif
