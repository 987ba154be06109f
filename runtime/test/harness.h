/* What the tests of move share: a workload with memory that it can check, and runs of the mover. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1ull << 20)
enum { THREADS = 1, SECCOMP = 2, UID1000 = 4, SPARSE = 8, LEADER_DIES = 16, BITS32 = 32, SLEEPER = 64, REGISTERS = 128 };

/* Shared with the workload, never moved. */
struct shared {
  volatile uint64_t beats, ask, answered, bad, signals, traps, sleep_errors, up, spins, wrong_registers;
};
struct work {
  pid_t pid;
  unsigned long long start;
  struct shared *s;
  uint64_t at, length;
  int flags;
};

static const char *tools;
static char dir[64];
static int failed;
static char why[600];

static bool no(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool no(const char *format, ...) {
  va_list a;
  va_start(a, format);
  if (!*why) vsnprintf(why, sizeof why, format, a);
  va_end(a);
  return false;
}

static void nap(long milliseconds) { nanosleep(&(struct timespec){milliseconds / 1000,
    milliseconds % 1000 * 1000000}, NULL); }
static uint64_t value_at(uint64_t i) { return (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9; }
/* With SPARSE every second 4 MiB is zero, and all of the third 8 MiB. */
static bool is_zero_at(int flags, uint64_t byte) { return flags & SPARSE
    && (byte / (4 * MIB) % 2 || byte / (8 * MIB) == 2); }

static struct shared *mine;
static void on_signal(int signal) { __atomic_add_fetch(signal == SIGTRAP ? &mine->traps : &mine->signals,
    1, __ATOMIC_RELAXED); }
static void *beat(void *x) {
  for (;;) {
    nap(1);
    __atomic_add_fetch(&mine->beats, 1, __ATOMIC_RELAXED);
  }
  return x;
}
static void *answer(void *x) {
  struct work *w = x;
  uint64_t *p = (uint64_t *)w->at;
  for (;; nap(1)) {
    if (mine->ask == mine->answered) continue;
    uint64_t bad = 0;
    for (uint64_t i = 0; i < w->length / 8; i++)
      bad += p[i] != (is_zero_at(w->flags, i * 8) ? 0 : value_at(i));
    mine->bad = bad;
    mine->answered = mine->ask;
  }
  return x;
}

static void kill_on_madvise(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) _exit(90);
}

/* Holds values in registers alone for some microseconds, over and over. */
static void *spin(void *x) {
  uint64_t seed = (uint64_t)(uintptr_t)&x, a, b, c;
  for (;; seed = seed * 6364136223846793005 + 1, __atomic_add_fetch(&mine->spins, 1, __ATOMIC_RELAXED)) {
    __asm__ volatile("movq %3, %%r8; movq %3, %%r15; movq %3, %%xmm3; movq %3, %%xmm15; movl $3000, %%ecx\n"
                     "1: incq %%r8; decq %%r15; paddq %%xmm3, %%xmm15; loop 1b\n"
                     "subq $3000, %%r8; addq $3000, %%r15; movq %%xmm15, %2\n"
                     "movq %%r8, %0; movq %%r15, %1\n"
                     : "=&r"(a), "=&r"(b), "=&r"(c)
                     : "r"(seed)
                     : "rcx", "r8", "r15", "xmm3", "xmm15");
    if (a != seed || b != seed || c != seed * 3001) mine->wrong_registers++;
  }
  return x;
}

static void run_32_bit(void) {
  char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS
      | MAP_32BIT, -1, 0);
  memcpy(code, "\xeb\xfe", 2);
  __asm__ volatile("pushq $0x23; pushq %0; lretq" ::"r"((uint64_t)code) : "memory");
}

/* Nothing of whoever runs the tests: criu would have to dump what a workload inherits, whatever that is. */
__attribute__((constructor)) static void forget_inherited(void) {
  if (syscall(SYS_close_range, 3, ~0u, 0))
    for (int fd = 3; fd < 4096; fd++) close(fd);
}
static void forget_output(void) {
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  close(null);
}

static _Noreturn void workload(struct work *w) {
  pthread_t t;
  forget_output();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid(); /* As a container's first process: criu dumps none whose session began outside its pid namespace. */
  signal(SIGRTMIN, on_signal);
  signal(SIGTRAP, on_signal);
  uint64_t *p = (uint64_t *)w->at;
  for (uint64_t i = 0; i < w->length / 8; i++)
    if (!is_zero_at(w->flags, i * 8)) p[i] = value_at(i);
  for (int i = 0; i < (w->flags & THREADS ? 30 : 1); i++) pthread_create(&t, NULL, beat, NULL);
  pthread_create(&t, NULL, answer, w);
  if (w->flags & REGISTERS) pthread_create(&t, NULL, spin, NULL);
  if (w->flags & UID1000 && (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000))) _exit(91);
  if (w->flags & SECCOMP) kill_on_madvise();
  mine->up = 1;
  if (w->flags & LEADER_DIES) syscall(SYS_exit, 0);
  if (w->flags & BITS32) run_32_bit();
  while (w->flags & SLEEPER) {
    struct timespec rest = {0, 30000000};
    if (nanosleep(&rest, NULL) && errno != EINTR) mine->sleep_errors++;
  }
  if (w->flags & REGISTERS) spin(NULL);
  for (;;) pause();
}

static unsigned long long start_time(pid_t pid) {
  char path[64], text[1024];
  unsigned long long start = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY);
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  sscanf(strrchr(text, ')') + 2,
      "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start);
  return start;
}

/* The value of a key in a status file of the workload. */
static unsigned long long status(const struct work *w, const char *key) {
  char path[64], text[8192];
  snprintf(path, sizeof path, "/proc/%d/status", w->pid);
  int fd = open(path, O_RDONLY);
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  char *p = strstr(text, key);
  return p ? strtoull(p + strlen(key), NULL, !strncmp(key, "Sig", 3) ? 16 : 10) : 0;
}

static bool each_thread_is(pid_t pid, char wanted) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *d = opendir(path);
  bool all = d;
  for (struct dirent *e; d && (e = readdir(d));) {
    char state = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid, e->d_name);
    FILE *f = *e->d_name == '.' ? NULL : fopen(path, "r");
    if (!f) continue;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state != wanted && state != 'Z') all = false;
    fclose(f);
  }
  if (d) closedir(d);
  return all;
}

static bool stop(struct work *w) {
  kill(w->pid, SIGSTOP);
  for (int i = 0; i < 20000 && !each_thread_is(w->pid, 'T'); i++) nap(1);
  return each_thread_is(w->pid, 'T') || no("it does not stop");
}

static bool begin(struct work *w, uint64_t length, int flags) {
  *w = (struct work){.length = length, .flags = flags};
  w->s = mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  w->at = (uint64_t)mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fflush(NULL);
  if (!(w->pid = fork())) workload(w);
  munmap((void *)w->at, length);
  for (int i = 0; i < 60000 && !w->s->up; i++) nap(1);
  w->start = start_time(w->pid);
  char path[128];
  snprintf(path, sizeof path, "%s/regions", dir);
  FILE *f = fopen(path, "w");
  fprintf(f, "%llx %llu\n", (unsigned long long)w->at, (unsigned long long)length);
  fclose(f);
  return w->s->up || no("the workload did not start");
}

/* Stopped before? Still so? Then on it goes, and every value is right, and all threads run. */
static bool goes_on(struct work *w) {
  if (!each_thread_is(w->pid, 'T')) return no("it is not stopped any more");
  if (status(w, "TracerPid:")) return no("it is still traced");
  uint64_t beats = w->s->beats;
  kill(w->pid, SIGCONT);
  w->s->ask++;
  for (int i = 0; i < 60000 && (w->s->answered != w->s->ask || w->s->beats < beats + 3); i++) nap(1);
  if (w->s->answered != w->s->ask || w->s->beats < beats + 3) return no("it does not go on");
  return !w->s->bad || no("%llu values are wrong", (unsigned long long)w->s->bad);
}

__attribute__((unused)) static uint64_t resident_mib(const struct work *w) { return status(w, "RssAnon:") / 1024; }

/* Behind everybody else, so that a test that wants to meet it at work does so on a busy machine too. */
static bool slowly;

static pid_t launch(const char *tool, const struct work *w, const char *command, va_list more) {
  const char *argv[40] = {tool, "move", command};
  char pid[16], start[32], regions[128], stage[128], journal[128], path[200];
  int n = 3;
  snprintf(path, sizeof path, "%s/%s", tools, tool);
  snprintf(pid, sizeof pid, "%d", w->pid);
  snprintf(start, sizeof start, "%llu", w->start);
  snprintf(regions, sizeof regions, "%s/regions", dir);
  snprintf(stage, sizeof stage, "%s/stage", dir);
  snprintf(journal, sizeof journal, "%s/journal", dir);
  argv[n++] = "--pid", argv[n++] = pid, argv[n++] = "--start", argv[n++] = start,
      argv[n++] = "--journal", argv[n++] = journal;
  if (!strcmp(command, "out")) {
    unlink(journal), unlink(stage);
    argv[n++] = "--regions", argv[n++] = regions, argv[n++] = "--stage", argv[n++] = stage,
        argv[n++] = "--piece", argv[n++] = "33554432";
  }
  for (const char *x; (x = va_arg(more, const char *));) argv[n++] = x;
  char log[128];
  snprintf(log, sizeof log, "%s/err", dir);
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    if (slowly) setpriority(PRIO_PROCESS, 0, 19);
    dup2(open("/dev/null", O_WRONLY), 1);
    dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    execv(path, (char **)argv);
    _exit(127);
  }
  return child;
}

static int ended(pid_t child) {
  int s;
  waitpid(child, &s, 0);
  return WIFSIGNALED(s) ? 128 + WTERMSIG(s) : WEXITSTATUS(s);
}

/* Runs the mover to its end: its exit code. */
__attribute__((unused)) static int move_with(const char *tool, const struct work *w, const char *command, ...) {
  va_list a;
  va_start(a, command);
  return ended(launch(tool, w, command, a));
}
#define move(...) move_with("stasis-runtime", __VA_ARGS__, NULL)
#define crashing_move(...) move_with("stasis-runtime-crash", __VA_ARGS__, NULL)

static const char *said(void) {
  static char text[400];
  char path[128];
  snprintf(path, sizeof path, "%s/err", dir);
  int fd = open(path, O_RDONLY);
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  return text;
}

static bool code_is(int code, int wanted) { return code == wanted
    || no("expected code %d, got %d: %s", wanted, code, said()); }

static void end(struct work *w) {
  kill(w->pid, SIGKILL);
  waitpid(w->pid, NULL, 0);
  munmap(w->s, 4096);
}

/* With STASIS_TEST_PART every third promise is run, so that three processes run them all side by side. */
static bool is_of_this_part(void) {
  static int count;
  const char *part = getenv("STASIS_TEST_PART");
  int third = count++ % 3;
  return !part || third == atoi(part);
}

static inline bool everything(void) {
  const char *all = getenv("STASIS_TEST_ALL");
  return all && !strcmp(all, "yes");
}

static void promise(const char *name, bool (*test)(void)) {
  if (!is_of_this_part()) return;
  snprintf(dir, sizeof dir, "/dev/shm/stasis-test.XXXXXX");
  if (!mkdtemp(dir)) exit(2);
  *why = 0;
  bool good = test();
  printf("%s %s%s%s\n", good ? "ok" : "FAIL", name, good ? "" : ": ", good ? "" : why);
  fflush(stdout);
  failed |= !good;
  for (const char **f = (const char *[]){"regions", "stage", "journal", "err", "small/stage",
      "guard", NULL}; *f; f++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, *f);
    unlink(path);
  }
  rmdir(dir);
}
#define PROMISE(test) promise(#test, test)
