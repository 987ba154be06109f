/* calls LOG PROGRAM ARG...: runs it and notes what it makes durable, a line each: "sync NAME" and "rename". Ends with
 * its code. For tests of what a crash of the machine must not lose: nothing else shows whether a sync was done. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(FILE *log, pid_t pid, const struct __ptrace_syscall_info *info) {
  char path[64], name[4096];
  switch (info->entry.nr) {
  case SYS_fsync:
  case SYS_fdatasync: {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, (int)info->entry.args[0]);
    ssize_t n = readlink(path, name, sizeof name - 1);
    name[n > 0 ? n : 0] = 0;
    const char *last = strrchr(name, '/');
    fprintf(log, "sync %s\n", last ? last + 1 : name);
    break;
  }
#ifdef SYS_rename
  case SYS_rename:
#endif
  case SYS_renameat:
  case SYS_renameat2: fputs("rename\n", log); break;
  default: break;
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  FILE *log = fopen(argv[1], "w");
  int status;
  pid_t pid = fork();
  if (!pid) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execv(argv[2], argv + 2);
    _exit(127);
  }
  if (!log || waitpid(pid, &status, 0) != pid) return 2;
  ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int signal = 0;;) {
    struct __ptrace_syscall_info info;
    ptrace(PTRACE_SYSCALL, pid, 0, signal);
    if (waitpid(pid, &status, 0) != pid) return 2;
    if (WIFEXITED(status)) break;
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY)
        note(log, pid, &info);
    }
    if (signal == SIGTRAP || signal == (SIGTRAP | 0x80)) signal = 0;
  }
  fclose(log);
  return WEXITSTATUS(status);
}
