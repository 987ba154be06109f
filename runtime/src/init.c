/* init: the holder, PID 1 of a container that waits for a restore.
 *
 * criu restores the workload inside this container's pid namespace and exits; the workload's root
 * process then becomes our child. Only workload.pid identifies it among our children: criu itself,
 * its helpers and orphans are reaped and ignored. */
#include "stasis.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A workload that ends immediately may be reaped before its pid file exists. */
#define RECENT 256
static struct {
  pid_t pid;
  int status;
} recent[RECENT];
static unsigned reaped;

static int folder;

/* The pid in workload.pid, 0 if there is none (yet). */
static pid_t workload(void) {
  char text[32];
  uint64_t pid;
  if (read_small(folder, "workload.pid", text, sizeof text) <= 0) return 0;
  text[strcspn(text, "\n")] = 0;
  return parse_number(text, 10, &pid) && pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* While criu runs, the workload is criu's child and incomplete: it gets no signals. */
static bool is_our_child(pid_t pid) {
  siginfo_t info;
  return !waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
}

static void reap(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
    if (pid == workload()) _exit(exit_code_of(status));
    recent[reaped % RECENT].pid = pid;
    recent[reaped++ % RECENT].status = status;
  }
}

/* Ends us if the pid file names a child that was reaped before the file existed. A living process
 * with that pid has reused it. */
static void end_if_workload_ended(void) {
  pid_t pid = workload();
  if (!pid || !kill(pid, 0) || errno != ESRCH) return;
  for (unsigned i = reaped; i > 0 && i + RECENT > reaped; i--)
    if (recent[(i - 1) % RECENT].pid == pid) _exit(exit_code_of(recent[(i - 1) % RECENT].status));
}

static void hand_on(const struct signalfd_siginfo *info) {
  int signal = (int)info->ssi_signo;
  /* CONT is not forwarded: a user who stops and continues a container must not continue a workload
   * without its memory. */
  if (signal == SIGCHLD || signal == SIGCONT) return;
  pid_t pid = workload();
  if (pid && is_our_child(pid)) {
    if (info->ssi_code == SI_QUEUE)
      sigqueue(pid, signal, (union sigval){.sival_ptr = (void *)(uintptr_t)info->ssi_ptr});
    else
      kill(pid, signal);
  } else if (signal == SIGTERM || signal == SIGINT || signal == SIGQUIT) {
    _exit(128 + signal);
  }
}

static _Noreturn void hold(void) {
  sigset_t all;
  sigfillset(&all);
  int signals = sigprocmask(SIG_BLOCK, &all, NULL) ? -1 : signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) die_errno(EXIT_SELF, "cannot receive signals");
  int changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  /* Without inotify (its instances are limited per user), polling once a second is sufficient. */
  int timeout = -1;
  if (changes < 0 || fchdir(folder) || inotify_add_watch(changes, ".", IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
    timeout = 1000;
  for (;;) {
    reap();
    end_if_workload_ended();
    struct pollfd wait[] = {{.fd = signals, .events = POLLIN}, {.fd = changes, .events = POLLIN}};
    poll(wait, 2, timeout);
    char ignored[4096];
    while (changes >= 0 && read(changes, ignored, sizeof ignored) > 0) {}
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
      reap();
      hand_on(&info);
    }
  }
}

int cmd_init(int argc, char **argv) {
  const char *name = "/.stasis";
  int i = 1;
  if (i + 1 < argc && !strcmp(argv[i], "--dir")) name = argv[i + 1], i += 2;
  if (i + 1 >= argc || strcmp(argv[i], "--")) die(2, "usage: init [--dir DIR] -- ARGV...");
  char **program = argv + i + 1;
  folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) die_errno(EXIT_SELF, "%s", name);
  if (!faccessat(folder, "restored", F_OK, 0)) {
    execvp(program[0], program);
    die_errno(errno == ENOENT ? 127 : 126, "%s", program[0]);
  }
  if (openat(folder, "started", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644) < 0) {
    if (errno == EEXIST) die(EXIT_RESTORE_FAILED, "the restore into this container failed");
    die_errno(EXIT_SELF, "%s/started", name);
  }
  hold();
}
