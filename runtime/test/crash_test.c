/* move, killed: at every point, at random moments, by its surroundings. Whatever happened, one more
 * "move in" brings the process back as it was. */
#include "harness.h"

#define KILLED 137

static bool has_journal(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/journal", dir);
  return !access(path, F_OK);
}

static bool brought_back(struct work *w) { return code_is(move(w, "in"), 0) && goes_on(w); }

/* Ends the mover at its 1st, 2nd, ... point (around each ptrace call, each journal record, each
 * filled chunk) until it comes through. The same process lives through all of it. */
static bool at_every_point(int flags, bool out) {
  struct work w;
  int n = 1, tried = 0, code = KILLED, step = everything() ? 1 : 3;
  bool good = begin(&w, 24 * MIB, flags);
  unsigned long long blocked = good ? status(&w, "SigBlk:") : 0;
  for (; good && code == KILLED; n += step) {
    char at[16];
    snprintf(at, sizeof at, "%d", n);
    setenv("STASIS_CRASH_AT", at, 1);
    good = stop(&w) && (out || code_is(move(&w, "out"), 0));
    if (!good) break;
    tried++;
    code = out ? crashing_move(&w, "out", "--digest", "sha256") : crashing_move(&w, "in", "--huge");
    good = code == KILLED || code_is(code, 0);
    for (int i = 0; i < 20000 && !each_thread_is(w.pid, 'T'); i++) nap(1);
    /* Killed before the journal was begun: there is nothing to undo. */
    bool journal = has_journal();
    good = good && (journal ? brought_back(&w) : goes_on(&w))
        && (status(&w, "SigBlk:") == blocked || no("the signal mask is another"));
    if (!good) {
      char first[sizeof why];
      snprintf(first, sizeof first, "%s", why);
      *why = 0;
      no("point %d: %.500s", n, first);
    }
  }
  unsetenv("STASIS_CRASH_AT");
  good = good && (tried > 5 || no("expected more than 5 points, got %d", tried))
      && (!w.s->sleep_errors || no("a system call went wrong"));
  if (good) printf("     %d points\n", tried);
  end(&w);
  return good;
}
static bool killed_at_every_point_of_out_nothing_is_lost(void) { return at_every_point(0, true); }
static bool killed_at_every_point_of_out_a_sleeping_thread_sleeps_on(void) {
  return at_every_point(THREADS | SLEEPER, true);
}
static bool killed_at_every_point_of_in_nothing_is_lost(void) { return at_every_point(SPARSE, false); }

static pid_t launched(struct work *w, const char *command, ...) {
  va_list a;
  va_start(a, command);
  return launch("stasis-runtime", w, command, a);
}

/* Moves out 512 MiB, and is met when some of it has gone. */
static pid_t at_work(struct work *w) {
  slowly = true;
  pid_t p = launched(w, "out", "--threads", "1", NULL);
  slowly = false;
  for (int i = 0; i < 20000 && status(w, "RssAnon:") / 1024 > 500; i++) nap(1);
  return p;
}

static bool killed_at_random_moments_nothing_is_lost(void) {
  struct work w;
  bool good = begin(&w, 128 * MIB, THREADS);
  srand(1);
  for (int i = 0; good && i < (everything() ? 40 : 14); i++) {
    good = stop(&w);
    pid_t p = launched(&w, "out", NULL);
    nanosleep(&(struct timespec){0, rand() % 90 * 1000000}, NULL);
    kill(p, SIGKILL);
    ended(p);
    for (int k = 0; good && k < 2; k++) {
      p = launched(&w, "in", "--punch", NULL);
      nanosleep(&(struct timespec){0, rand() % 60 * 1000000}, NULL);
      kill(p, SIGKILL);
      ended(p);
    }
    bool journal = has_journal();
    for (int k = 0; k < 20000 && !each_thread_is(w.pid, 'T'); k++) nap(1);
    good = good && (journal ? brought_back(&w) : goes_on(&w));
  }
  end(&w);
  return good;
}

static bool no_signal_of_a_flood_is_lost_and_every_drop_happens(void) {
  struct work w;
  uint64_t sent = 0;
  bool good = begin(&w, 32 * MIB, THREADS);
  pid_t flood = -1;
  volatile uint64_t *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (good && !(flood = fork())) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!count[1])
      if (sigqueue(w.pid, SIGRTMIN, (union sigval){0})) nap(1); /* the queue is full */
      else if (++count[0] % 20 == 0) nap(1);
    _exit(0);
  }
  for (int i = 0; good && i < 40; i++) {
    good = stop(&w) && code_is(move(&w, "out"), 0) && (resident_mib(&w) < 8 || no("not dropped"));
    good = good && brought_back(&w);
  }
  count[1] = 1;
  if (flood > 0) ended(flood);
  sent = count[0];
  for (int i = 0; i < 60000 && w.s->signals < sent; i++) nap(1);
  good = good && sent > 1000
      && (w.s->signals == sent
      || no("%llu signals sent, %llu seen", (unsigned long long)sent, (unsigned long long)w.s->signals));
  if (good) printf("     %llu signals\n", (unsigned long long)sent);
  end(&w);
  return good;
}

static bool a_filter_that_kills_on_madvise_kills_nobody(void) {
  struct work w;
  bool good = begin(&w, 32 * MIB, SECCOMP | THREADS) && stop(&w) && code_is(move(&w, "out"), 0)
      && (resident_mib(&w) < 8 || no("not dropped"));
  good = good && brought_back(&w) && (status(&w, "Seccomp:") == 2 || no("the filter is gone"));
  end(&w);
  return good;
}

static bool a_handler_of_SIGTRAP_is_left_alone(void) {
  struct work w;
  bool good = begin(&w, 16 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0) && brought_back(&w);
  kill(w.pid, SIGTRAP);
  for (int i = 0; i < 20000 && !w.s->traps; i++) nap(1);
  good = good && (w.s->traps == 1 || no("the handler is gone"));
  end(&w);
  return good;
}

static bool ended_by_TERM_it_puts_everything_back(void) {
  struct work w;
  bool good = begin(&w, 512 * MIB, 0) && stop(&w);
  pid_t p = at_work(&w);
  kill(p, SIGTERM);
  good = good && code_is(ended(p), 7) && (strstr(said(), "signal") || no("said %s", said()))
      && brought_back(&w);
  end(&w);
  return good;
}

static bool continued_by_somebody_no_piece_is_dropped_any_more(void) {
  struct work w;
  bool good = begin(&w, 512 * MIB, THREADS) && stop(&w);
  pid_t p = at_work(&w);
  kill(w.pid, SIGCONT);
  good = good && code_is(ended(p), 6) && stop(&w) && brought_back(&w);
  end(&w);
  return good;
}

static bool a_process_that_went_on_is_not_given_old_registers(void) {
  struct work w;
  bool good = begin(&w, 24 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0)
      && code_is(move(&w, "in"), 0);
  char command[300];
  /* An injection that seems open although the process has long gone on, with another stack. */
  snprintf(command, sizeof command,
      "cd %s && sed -i '/^E/d; s/^\\(I .*\\)\\(.\\)$/\\1x/; s/x$/1/' journal && sed -i 's/^\\(I [0-9]* [0-9a-f]* [0-9a-f]* \\)0000/\\1dead/' journal", dir);
  good = good && (!system(command) || no("sed")) && code_is(move(&w, "in"), 6) && goes_on(&w);
  end(&w);
  return good;
}

static bool its_death_or_a_broken_pipe_of_who_started_it_does_not_stop_it(void) {
  struct work w;
  bool good = begin(&w, 256 * MIB, 0) && stop(&w);
  char command[900], path[128];
  snprintf(command, sizeof command,
           "(%s/stasis-runtime move out --pid %d --start %llu --regions %s/regions --stage %s/stage --journal %s/journal --threads 1; echo $? >%s/err) | true",
           tools, w.pid, w.start, dir, dir, dir, dir);
  snprintf(path, sizeof path, "%s/err", dir);
  good = good && !system(command);
  for (int i = 0; i < 60000 && !*said(); i++) nap(1);
  good = good && (!strcmp(said(), "0\n") || no("said %s", said())) && brought_back(&w);
  end(&w);
  return good;
}

static bool a_process_killed_meanwhile_is_said_to_be_gone(void) {
  struct work w;
  bool good = begin(&w, 512 * MIB, 0) && stop(&w);
  pid_t p = at_work(&w);
  kill(w.pid, SIGKILL);
  good = good && code_is(ended(p), 3);
  end(&w);
  return good;
}

int main(int argc, char **argv) {
  tools = argc > 1 ? argv[1] : "target";
  PROMISE(killed_at_every_point_of_out_nothing_is_lost);
  PROMISE(killed_at_every_point_of_out_a_sleeping_thread_sleeps_on);
  PROMISE(killed_at_every_point_of_in_nothing_is_lost);
  PROMISE(killed_at_random_moments_nothing_is_lost);
  PROMISE(no_signal_of_a_flood_is_lost_and_every_drop_happens);
  PROMISE(a_filter_that_kills_on_madvise_kills_nobody);
  PROMISE(a_handler_of_SIGTRAP_is_left_alone);
  PROMISE(ended_by_TERM_it_puts_everything_back);
  PROMISE(continued_by_somebody_no_piece_is_dropped_any_more);
  PROMISE(a_process_that_went_on_is_not_given_old_registers);
  PROMISE(its_death_or_a_broken_pipe_of_who_started_it_does_not_stop_it);
  PROMISE(a_process_killed_meanwhile_is_said_to_be_gone);
  return failed;
}
