#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

/* The device of the calling thread's current context, or -1. */
int context_ordinal(void);
void *context_current(void);

#endif
