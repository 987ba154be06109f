#include "stasis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *command = "";
void (*before_dying)(void);

static void say(const char *format, va_list arguments, int error) {
  char line[1024];
  int n = vsnprintf(line, sizeof line, format, arguments);
  if (n < 0 || n >= (int)sizeof line) n = sizeof line - 1;
  dprintf(2, "stasis-runtime %s: %.*s%s%s\n", command, n, line, error ? ": " : "",
          error ? strerror(error) : "");
  void (*put_back)(void) = before_dying;
  before_dying = NULL;
  if (put_back) put_back();
}

void die(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, 0);
  _exit(code);
}

void die_errno(int code, const char *format, ...) {
  int error = errno;
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, error);
  _exit(code);
}

bool parse_number(const char *text, int base, uint64_t *value) {
  char *end;
  if (!text || *text < '0' || (*text > '9' && base == 10)) return false;
  errno = 0;
  *value = strtoull(text, &end, base);
  return !errno && !*end;
}

ssize_t read_small(int dir, const char *name, char *buffer, size_t size) {
  int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return -1;
  ssize_t n = read(fd, buffer, size - 1);
  int error = errno;
  close(fd);
  errno = error;
  if (n >= 0) buffer[n] = 0;
  return n;
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int, char **);
  } commands[] = {
      {"install", cmd_install}, {"init", cmd_init}, {"probe", cmd_probe},
      {"enter", cmd_enter}, {"move", cmd_move}, {"guard", cmd_guard},
      {"answer", cmd_answer}, {"sample", cmd_sample}, {"addresses", cmd_addresses},
      {"connections", cmd_connections}, {"filters", cmd_filters},
      {"ipc", cmd_ipc}, {"pause", cmd_pause}, {"spawn", cmd_spawn}};
  for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
    if (!strcmp(argv[1], commands[i].name)) {
      command = commands[i].name;
      return commands[i].run(argc - 1, argv + 1);
    }
  fputs("usage: stasis-runtime install|init|probe|enter|move|guard|answer|sample|addresses|connections|filters|ipc|pause|spawn ...\n", stderr);
  return 2;
}
