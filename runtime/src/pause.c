/* pause: the main process of a pod that only keeps a volume mounted. The node agent reaches the
 * volume through the root folder of this process, for as long as it lives. */
#include "stasis.h"

#include <signal.h>

int cmd_pause(int argc, char **argv) {
  (void)argv;
  if (argc != 1) die(2, "usage: pause");
  /* PID 1 of a pid namespace gets no signal without a handler, so that these are received. */
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  int signal;
  if (sigprocmask(SIG_BLOCK, &ending, NULL) || sigwait(&ending, &signal)) die_errno(EXIT_SELF, "cannot receive signals");
  return 0;
}
