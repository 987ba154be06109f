/* move: the command line of the memory mover. */
#include "move.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most) {
  uint64_t value;
  if (!parse_number(text, 10, &value) || value < least || value > most)
    die(2, "%s: expected a number from %lu to %lu, got %s", option, least, most, text);
  return value;
}

static unsigned processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

void move_signals(void) {
  sigset_t set;
  /* A broken pipe or a closed terminal does not end us; TERM and INT end us between two pieces;
   * CHLD means that the traced thread has stopped. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a stage that exceeds the file size limit counts as missing space, and does not kill us */
  signal(SIGCHLD, SIG_DFL);
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, NULL);
}

int cmd_move(int argc, char **argv) {
  /* Ctrl-C on the agent's terminal is for the agent: a repeated one must not end a fill. */
  setsid();
  struct options o = {.piece = 256u << 20, .threads = processors()};
  bool out = argc > 1 && !strcmp(argv[1], "out");
  if (argc < 2 || (!out && strcmp(argv[1], "in"))) die(2, "usage: move out|in ...");
  for (int i = 2; i < argc; i++) {
    const char *name = argv[i];
    if (out && !strcmp(name, "--no-drop")) o.no_drop = true;
    else if (!out && !strcmp(name, "--punch")) o.punch = true;
    else if (!out && !strcmp(name, "--huge")) o.huge = true;
    else {
      const char *value = argv[++i];
      if (!value) die(2, "%s: expected a value", name);
      if (!strcmp(name, "--pid")) o.pid = (pid_t)number(name, value, 2, INT_MAX);
      else if (!strcmp(name, "--start")) o.start = number(name, value, 0, UINT64_MAX);
      else if (!strcmp(name, "--journal")) o.journal = value;
      else if (!strcmp(name, "--threads")) o.threads = (unsigned)number(name, value, 1, 1024);
      else if (!out && !strcmp(name, "--not-huge")) o.not_huge = value;
      else if (out && !strcmp(name, "--regions")) o.regions = value;
      else if (out && !strcmp(name, "--stage")) o.stage = value;
      else if (out && !strcmp(name, "--piece")) o.piece = number(name, value, CHUNK, 1ull << 40);
      else if (out && !strcmp(name, "--digest")) {
        o.sha256 = !strcmp(value, "sha256");
        if (!o.sha256 && strcmp(value, "crc32c"))
          die(2, "--digest: expected crc32c or sha256, got %s", value);
      } else if (!out && !strcmp(name, "--verify")) {
        o.sha256 = !strcmp(value, "sha256");
        if (!o.sha256 && strcmp(value, "crc32c"))
          die(2, "--verify: expected crc32c or sha256, got %s", value);
      } else die(2, "unknown option %s", name);
    }
  }
  if (!o.pid || !o.start || !o.journal) die(2, "expected --pid, --start and --journal");
  if (out && (!o.regions || !o.stage || *o.stage != '/'))
    die(2, "expected --regions and an absolute --stage");
  move_signals();
  return out ? move_out(&o) : move_in(&o);
}
