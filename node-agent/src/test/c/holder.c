// A holder in miniature, for tests of what happens below one: waits for any child and ends with
// its code. Run as "stasis-runtime init" so that it is known for what it is.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void woken(int number) { (void)number; }

int main(void) {
  struct sigaction action = {.sa_handler = woken};
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  sigaction(SIGCHLD, &action, NULL);
  for (int status;; sigsuspend(&before))
    if (waitpid(-1, &status, WNOHANG) > 0)
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
