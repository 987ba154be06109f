/* guard: criu, killed at any moment of a dump, costs nobody anything. The criu of CRIU. */
#include "harness.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

static const char *criu;

static pid_t run(const char *program, char *const argv[]) {
  char log[128];
  snprintf(log, sizeof log, "%s/err", dir);
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(1, 2);
    setsid();
    execv(program, argv);
    _exit(127);
  }
  return child;
}

static pid_t guard_started(const char *tool, const struct work *w, const char *what) {
  char path[200], journal[128], process[64];
  snprintf(path, sizeof path, "%s/%s", tools, tool);
  snprintf(journal, sizeof journal, "%s/guard", dir);
  snprintf(process, sizeof process, "%d:%llu", w->pid, w->start);
  bool save = !strcmp(what, "save");
  char *argv[] = {(char *)tool, "guard", (char *)what, "--journal", journal, save ? "--process" : NULL, process, NULL};
  char *calm[] = {(char *)tool, "guard", "calm", "--process", process, NULL};
  return run(path, strcmp(what, "calm") ? argv : calm);
}
static bool guard(const struct work *w, const char *what) {
  return code_is(ended(guard_started("stasis-runtime", w, what)), 0);
}

/* Others may end a process by their own death: bin/lib/criu.patch says why. */
static bool can_be_killed(void) {
  char command[300];
  snprintf(command, sizeof command, "'%s' --version | grep -q '^GitID: stasis-[0-9]*$'", criu);
  return !system(command);
}

static pid_t dump_started(const struct work *w) {
  char pid[16], images[128];
  snprintf(pid, sizeof pid, "%d", w->pid);
  snprintf(images, sizeof images, "%s/images", dir);
  mkdir(images, 0700);
  char *argv[] = {"criu", "dump", "--no-default-config", "--tree", pid, "--images-dir", images, "--log-file", "log",
      "-v1", "--leave-stopped", "--shell-job", "--ext-unix-sk", "--tcp-established", "--network-lock", "skip", NULL};
  return run(criu, argv);
}

/* What criu says itself of a dump that nobody disturbed. */
static bool dumped(struct work *w) {
  char command[300], line[400] = "";
  int code = ended(dump_started(w));
  if (!code) return true;
  snprintf(command, sizeof command, "grep Error %s/images/log %s/err 2>&1 | head -n 2 | tr '\\n' ' '", dir, dir);
  FILE *f = popen(command, "r");
  if (f) {
    if (!fgets(line, sizeof line, f)) *line = 0;
    pclose(f);
  }
  return no("criu dump ended with %d: %s", code, line);
}

static void forget_images(void) {
  char command[200];
  snprintf(command, sizeof command, "rm -rf %s/images", dir);
  if (system(command)) no("images stay");
}

static bool has_in(const struct work *w, const char *command, const char *what) {
  char line[300];
  snprintf(line, sizeof line, command, w->pid, what);
  return !system(line);
}
static unsigned descriptors(const struct work *w) {
  char path[64];
  unsigned n = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", w->pid);
  DIR *d = opendir(path);
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}

static bool all_stopped_soon(struct work *w) {
  for (int i = 0; i < 20000 && !each_thread_is(w->pid, 'T'); i++) nap(1);
  return each_thread_is(w->pid, 'T') || no("it is not stopped");
}

/* How much may not be read, in kB. */
static long unreadable(const struct work *w) {
  char path[64], line[4500], mode[8];
  unsigned long from, to;
  long sum = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", w->pid);
  FILE *maps = fopen(path, "r");
  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && *mode == '-') sum += (to - from) >> 10;
  if (maps) fclose(maps);
  return sum;
}

struct before {
  unsigned fds;
  unsigned long long blocked;
  long unreadable;
};
static struct before look(const struct work *w) {
  return (struct before){descriptors(w), status(w, "SigBlk:"), unreadable(w)};
}

/* As it was: runs on, right in memory and registers, with nothing of criu's in it. */
static bool whole(struct work *w, const struct before *was) {
  uint64_t spins = w->s->spins;
  bool good = goes_on(w) && (!w->s->wrong_registers || no("a register is wrong"));
  for (int i = 0; good && w->flags & REGISTERS && i < 10000 && w->s->spins < spins + 9; i++) nap(1);
  good = good && (!(w->flags & REGISTERS) || w->s->spins >= spins + 9 || no("it does not spin on"));
  good = good && (!has_in(w, "grep -q %2$s /proc/%1$d/maps", "CRIUMFD") || no("criu's code is still there"));
  good = good && (descriptors(w) == was->fds || no("expected %u descriptors, got %u", was->fds, descriptors(w)));
  good = good && (status(w, "SigBlk:") == was->blocked || no("the signal mask is another"));
  good = good && (unreadable(w) == was->unreadable
      || no("expected %ld kB that may not be read, got %ld", was->unreadable, unreadable(w)));
  return good && (!w->s->sleep_errors || no("a system call went wrong"));
}

/* Puts back; where it is to be killed in that first, at a point that is drawn by lot. */
static bool put_back(struct work *w, bool killed) {
  char at[16];
  if (!killed) return guard(w, "restore");
  snprintf(at, sizeof at, "%d", 1 + rand() % 120);
  setenv("STASIS_CRASH_AT", at, 1);
  int code = ended(guard_started("stasis-runtime-crash", w, "restore"));
  unsetenv("STASIS_CRASH_AT");
  return (code == 137 || code_is(code, 0)) && guard(w, "restore");
}

/* criu's daemon is there, with its mask: what the kernel sends it for a socket or a file of criu's waits. */
static bool break_pipe(struct work *w, const struct before *was) {
  if (!all_stopped_soon(w) || status(w, "SigBlk:") == was->blocked
      || !has_in(w, "grep -q ' rw.*%2$s' /proc/%1$d/maps", "CRIUMFD"))
    return false;
  return !syscall(SYS_tgkill, w->pid, w->pid, SIGPIPE) && !syscall(SYS_tgkill, w->pid, w->pid, SIGXFSZ);
}

/* Spreads the kills over all of a dump: how long one takes is measured first. */
static bool killed_often(int flags, int times, bool guard_too) {
  struct work w;
  struct timespec a, b;
  int killed = 0, broken = 0, open = 0, i = 0;
  bool good = begin(&w, 8 * MIB, flags);
  struct before was = look(&w);
  clock_gettime(CLOCK_MONOTONIC, &a);
  good = good && stop(&w) && dumped(&w) && all_stopped_soon(&w) && whole(&w, &was);
  clock_gettime(CLOCK_MONOTONIC, &b);
  forget_images();
  long took = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
  srand((unsigned)a.tv_nsec);
  /* A machine that is busy now and not before may let dumps come through: then there are more of them. */
  for (; good && (i < times || (killed < times / 3 && i < times * 12)); i++) {
    good = stop(&w) && guard(&w, "save");
    long when = rand() % took;
    pid_t p = good ? dump_started(&w) : 0;
    nanosleep(&(struct timespec){when / 1000000, when % 1000000 * 1000}, NULL);
    if (p) kill(p, SIGKILL), killed += ended(p) == 137;
    broken += break_pipe(&w, &was);
    open += unreadable(&w) != was.unreadable;
    good = good && put_back(&w, guard_too) && whole(&w, &was);
    if (!good) {
      char first[sizeof why];
      snprintf(first, sizeof first, "%s", why);
      *why = 0;
      no("kill %d after %ld us: %.500s", i + 1, when, first);
    }
    forget_images();
  }
  good = good && (killed >= times / 3 || no("expected at least %d kills inside the dump, got %d", times / 3, killed));
  printf("     %d of %d killed, %d with a broken pipe, %d with memory laid open\n", killed, i, broken, open);
  end(&w);
  return good;
}

static int kills(void) { return getenv("STASIS_KILLS") ? atoi(getenv("STASIS_KILLS")) : everything() ? 25 : 9; }
static bool criu_killed_in_a_process_that_computes_costs_nothing(void) { return killed_often(REGISTERS, kills(), false); }
static bool criu_killed_in_a_process_that_sleeps_costs_nothing(void) { return killed_often(THREADS | SLEEPER, kills(), false); }
static bool a_guard_that_is_killed_too_is_run_again(void) { return killed_often(REGISTERS | SLEEPER, kills(), true); }

/* The agent refuses a process that has fewer left than that: OpenFileCheck. */
static bool criu_opens_four_descriptors_of_a_process_and_no_more(void) {
  struct work w;
  bool good = begin(&w, 8 * MIB, 0);
  struct before was = look(&w);
  for (unsigned left = 3; good && left <= 4; left++) {
    unsigned most = was.fds - 2 + left; /* a folder has . and .. too */
    struct rlimit limit;
    good = stop(&w) && !prlimit(w.pid, RLIMIT_NOFILE, NULL, &limit);
    limit.rlim_cur = most;
    good = good && (!prlimit(w.pid, RLIMIT_NOFILE, &limit, NULL) || no("no limit: %s", strerror(errno)));
    good = good && (left == 4 ? dumped(&w) : ended(dump_started(&w)) || no("expected it to fail with %u left", left));
    good = good && all_stopped_soon(&w) && whole(&w, &was);
    forget_images();
  }
  end(&w);
  return good;
}

static bool a_dump_that_ended_well_needs_nothing_put_back(void) {
  struct work w;
  bool good = begin(&w, 8 * MIB, REGISTERS | SLEEPER);
  struct before was = look(&w);
  good = good && stop(&w) && guard(&w, "save") && dumped(&w) && all_stopped_soon(&w)
      && guard(&w, "restore") && guard(&w, "restore") && whole(&w, &was);
  forget_images();
  end(&w);
  return good;
}

/* criu leaves it in repair mode, in which it does nothing, when it leaves the process stopped. */
static bool a_connection_works_after_a_dump_that_ended_well(void) {
  struct work w;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), on = 0;
  char got[4] = "";
  if (bind(listener, (void *)&at, size) || listen(listener, 1) || getsockname(listener, (void *)&at, &size)
      || connect(client, (void *)&at, size))
    return no("no connection: %s", strerror(errno));
  int server = accept(listener, NULL, NULL);
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && dumped(&w) && all_stopped_soon(&w) && guard(&w, "calm") && guard(&w, "calm");
  size = sizeof on;
  good = good && !getsockopt(client, IPPROTO_TCP, TCP_REPAIR, &on, &size) && (!on || no("it is still in repair"))
      && ((send(server, "yes", 4, 0) == 4 && recv(client, got, 4, 0) == 4 && !strcmp(got, "yes")) || no("nothing arrives: %s", strerror(errno)))
      && goes_on(&w);
  forget_images();
  end(&w);
  close(client);
  close(server);
  close(listener);
  return good;
}

static bool a_process_that_went_on_is_not_given_old_registers(void) {
  struct work w;
  bool good = begin(&w, 8 * MIB, REGISTERS | THREADS);
  struct before was = look(&w);
  good = good && stop(&w) && guard(&w, "save");
  kill(w.pid, SIGCONT);
  nap(20);
  good = good && stop(&w) && guard(&w, "restore") && whole(&w, &was);
  end(&w);
  return good;
}

static bool a_process_that_runs_is_refused(void) {
  struct work w;
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && guard(&w, "save");
  kill(w.pid, SIGCONT);
  int code = ended(guard_started("stasis-runtime", &w, "restore"));
  good = good && code_is(code, 6) && stop(&w) && goes_on(&w);
  end(&w);
  return good;
}

static bool a_process_that_ended_needs_nothing(void) {
  struct work w;
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && guard(&w, "save");
  end(&w);
  return good && guard(&w, "restore");
}

static bool a_connection_that_criu_took_out_of_its_stream_is_in_it_again(void) {
  struct work w;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (bind(listener, (void *)&at, size) || listen(listener, 1) || getsockname(listener, (void *)&at, &size)
      || connect(client, (void *)&at, size))
    return no("no connection: %s", strerror(errno));
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && guard(&w, "save");
  if (good && setsockopt(client, IPPROTO_TCP, TCP_REPAIR, &on, sizeof on)) good = no("repair: %s", strerror(errno));
  size = sizeof on;
  good = good && guard(&w, "restore") && !getsockopt(client, IPPROTO_TCP, TCP_REPAIR, &on, &size)
      && (!on || no("it is still in repair"));
  end(&w);
  close(client);
  close(listener);
  return good;
}

static bool a_queue_that_criu_peeked_into_is_peeked_into_as_before(void) {
  struct work w;
  int pair[2], other = 7, usual = 9, zero = 0, three = 3;
  socklen_t size = sizeof other;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || setsockopt(pair[1], SOL_SOCKET, SO_PEEK_OFF, &three, sizeof three))
    return no("no sockets: %s", strerror(errno));
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && guard(&w, "save");
  for (int i = 0; i < 2; i++) setsockopt(pair[i], SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof zero);
  good = good && guard(&w, "restore") && !getsockopt(pair[0], SOL_SOCKET, SO_PEEK_OFF, &usual, &size)
      && !getsockopt(pair[1], SOL_SOCKET, SO_PEEK_OFF, &other, &size);
  good = good && ((usual == -1 && other == 3) || no("expected -1 and 3, got %d and %d", usual, other));
  end(&w);
  for (int i = 0; i < 2; i++) close(pair[i]);
  return good;
}

static bool a_torn_journal_is_refused(void) {
  struct work w;
  char path[128];
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && guard(&w, "save");
  snprintf(path, sizeof path, "%s/guard", dir);
  good = good && !truncate(path, 300);
  int code = ended(guard_started("stasis-runtime", &w, "restore"));
  good = good && code_is(code, 7) && goes_on(&w);
  end(&w);
  return good;
}

int main(int argc, char **argv) {
  tools = argc > 1 ? argv[1] : "target";
  criu = getenv("CRIU");
  PROMISE(a_process_that_went_on_is_not_given_old_registers);
  PROMISE(a_process_that_runs_is_refused);
  PROMISE(a_process_that_ended_needs_nothing);
  PROMISE(a_torn_journal_is_refused);
  PROMISE(a_queue_that_criu_peeked_into_is_peeked_into_as_before);
  PROMISE(a_connection_that_criu_took_out_of_its_stream_is_in_it_again);
  if (!criu || !can_be_killed()) {
    if (is_of_this_part()) puts("skipped criu_killed_costs_nothing: CRIU names no criu that bin/setup has built for it");
    return failed;
  }
  PROMISE(a_dump_that_ended_well_needs_nothing_put_back);
  PROMISE(a_connection_works_after_a_dump_that_ended_well);
  PROMISE(criu_opens_four_descriptors_of_a_process_and_no_more);
  PROMISE(criu_killed_in_a_process_that_computes_costs_nothing);
  PROMISE(criu_killed_in_a_process_that_sleeps_costs_nothing);
  PROMISE(a_guard_that_is_killed_too_is_run_again);
  return failed;
}
