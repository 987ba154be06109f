/* Faults on demand: files in the node's folder `faults`, named after a call, optionally with a dot
 * and a pid. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "mailbox.h"

/* Takes the fault for this call of this process, if there is one. A file holds one line: `hang`,
 * `stuck`, `error N`, `failed`, `slow MS`, `outofstep` or `hold`, then optionally
 * `at=before|populate|middle|after` and `always`. Without `always` the file is removed, and only
 * one of several callers gets it. Its path is returned in `taken`, of FAULT_PATH bytes. */
void fault_take(const char *folder, enum call call, pid_t pid, struct fault *fault, char *taken);

enum { FAULT_PATH = 512 };

/* Shows by the file `TAKEN.held`, a link of nvidiactl, that the call has reached its hold;
 * negative on failure. */
int fault_show_held(const char *folder, const char *taken);

#endif
