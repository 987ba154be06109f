/* Faults on demand: files in the node's folder `faults`, named after a call, optionally with a pid behind a dot. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "mailbox.h"

/*
 * Takes the fault that waits for this call of this process, if there is one. A file holds one line: `hang`, `stuck`,
 * `error N`, `failed`, `slow MS`, `outofstep` or `hold`, then optionally `at=before|populate|middle|after` and `always`; without `always`
 * the file is gone afterwards, and of several callers only one gets it. Its path goes to `taken`, of FAULT_PATH bytes.
 */
void fault_take(const char *folder, enum call call, pid_t pid, struct fault *fault, char *taken);

enum { FAULT_PATH = 512 };

/* Shows by the file `TAKEN.held`, a link of nvidiactl, that the call has reached its hold; negative when it cannot. */
int fault_show_held(const char *folder, const char *taken);

#endif
