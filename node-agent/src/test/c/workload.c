// A small workload whose every tick says whether all that it had is still there: memory, threads, a
// child, open and deleted files, a lock, a listener, timers. Prints "tick N ok" or what is wrong.
// Usage: workload FOLDER [child] [threads] [deleted] [linked] [lock] [tcp] [shm] [pipe] [timers]
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 1 << 19, THREADS = 4, PORT = 7070 };

static uint64_t *memory;
static atomic_ulong beats[THREADS];
static const char *folder;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void pause_for(long millis) {
  struct timespec t = {millis / 1000, millis % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

static uint64_t sum(void) {
  uint64_t s = 0;
  for (int i = 0; i < WORDS; i++) s = s * 31 + memory[i];
  return s;
}

static void *beat(void *arg) {
  for (;; pause_for(20)) atomic_fetch_add(&beats[(intptr_t)arg], 1);
  return NULL;
}

static int open_in_folder(const char *name, int flags) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, flags, 0600);
  if (fd < 0) fail(path);
  return fd;
}

static void name_in_folder(char *path, size_t size, const char *name) {
  snprintf(path, size, "%s/%s", folder, name);
}

// A file without a name but with a descriptor; "linked" had a second name, which stays.
static int nameless(const char *name, const char *second) {
  char path[512], other[512];
  int fd = open_in_folder(name, O_RDWR | O_CREAT | O_TRUNC);
  if (write(fd, "kept", 4) != 4) fail("write");
  name_in_folder(path, sizeof path, name);
  if (second) {
    name_in_folder(other, sizeof other, second);
    unlink(other);
    if (link(path, other)) fail("link");
  }
  if (unlink(path)) fail("unlink");
  return fd;
}

static int is_kept(int fd) {
  char text[5] = "";
  return pread(fd, text, 4, 0) == 4 && strcmp(text, "kept") == 0;
}

static int listener(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, (void *)&a, sizeof a) || listen(fd, 5)) fail("listen");
  return fd;
}

static int listens(int fd) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value;
}

// The first runs off every 10 ms and is read seldom, so that it rests unread whenever we are stopped.
// The second ran off once, at a time of the clock, and was read: it never runs off again.
static void start_timers(int timers[2]) {
  struct itimerspec often = {{0, 10000000}, {0, 10000000}}, once = {{0, 0}, {0, 0}};
  uint64_t ticks;
  clock_gettime(CLOCK_MONOTONIC, &once.it_value);
  for (int i = 0; i < 2; i++)
    if ((timers[i] = timerfd_create(CLOCK_MONOTONIC, 0)) < 0) fail("timerfd");
  if (timerfd_settime(timers[0], 0, &often, NULL)) fail("timer");
  if (timerfd_settime(timers[1], TFD_TIMER_ABSTIME, &once, NULL)) fail("timer");
  if (read(timers[1], &ticks, sizeof ticks) != sizeof ticks) fail("timer");
}

static const char *look_at_timers(const int timers[2]) {
  struct pollfd often = {timers[0], POLLIN, 0}, once = {timers[1], POLLIN, 0};
  uint64_t ticks;
  // As long as for threads.
  if (poll(&often, 1, 10000) != 1) return "a timer that stands still";
  if (read(timers[0], &ticks, sizeof ticks) != sizeof ticks || ticks > 60000) return "a timer's ticks";
  return poll(&once, 1, 0) ? "a timer that ran off twice" : NULL;
}

static int asked(int argc, char **argv, const char *word) {
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], word) == 0) return 1;
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  setvbuf(stdout, NULL, _IOLBF, 0);
  memory = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (uint64_t i = 0, x = 88172645463325252ULL; i < WORDS; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    memory[i] = x;
  }
  uint64_t wanted = sum();
  int child[2], deleted = -1, linked = -1, tcp = -1, shm = -1, self[2] = {-1, -1}, timers[2] = {-1, -1};
  if (asked(argc, argv, "child")) {
    if (pipe(child)) fail("pipe");
    if (fork() == 0)
      for (unsigned n = 0;; n++, pause_for(50))
        if (write(child[1], &n, sizeof n) != sizeof n || sum() != wanted) _exit(9);
    close(child[1]);
  }
  if (asked(argc, argv, "threads"))
    for (intptr_t i = 0; i < THREADS; i++) {
      pthread_t t;
      if (pthread_create(&t, NULL, beat, (void *)i)) fail("thread");
    }
  if (asked(argc, argv, "deleted")) deleted = nameless("deleted", NULL);
  if (asked(argc, argv, "linked")) linked = nameless("linked", "second");
  if (asked(argc, argv, "lock") && flock(open_in_folder("lock", O_RDWR | O_CREAT), LOCK_EX))
    fail("flock");
  if (asked(argc, argv, "tcp")) tcp = listener();
  if (asked(argc, argv, "shm")) {
    if ((shm = open("/dev/shm/kept", O_RDWR | O_CREAT, 0600)) < 0) fail("shm");
    if (write(shm, "kept", 4) != 4) fail("shm");
  }
  if (asked(argc, argv, "pipe") && (pipe(self) || write(self[1], "x", 1) != 1)) fail("pipe");
  if (asked(argc, argv, "timers")) start_timers(timers);
  int log = open_in_folder("log", O_WRONLY | O_CREAT | O_APPEND);
  unsigned long before[THREADS] = {0};
  for (unsigned tick = 0, n = 0;; tick++) {
    pause_for(100);
    const char *wrong = sum() != wanted ? "memory" : NULL;
    if (asked(argc, argv, "child") && read(child[0], &n, sizeof n) != sizeof n) wrong = "child";
    for (int i = 0; asked(argc, argv, "threads") && i < THREADS; i++) {
      // A busy machine may let a thread wait; ten seconds are no longer busyness.
      for (int tries = 0; atomic_load(&beats[i]) == before[i] && !wrong; tries++, pause_for(10))
        if (tries > 1000) wrong = "threads";
      before[i] = atomic_load(&beats[i]);
    }
    if (deleted >= 0 && !is_kept(deleted)) wrong = "deleted file";
    if (linked >= 0 && !is_kept(linked)) wrong = "linked file";
    if (shm >= 0 && !is_kept(shm)) wrong = "shared memory file";
    if (tcp >= 0 && !listens(tcp)) wrong = "listener";
    if (asked(argc, argv, "timers") && !wrong) wrong = look_at_timers(timers);
    if (dprintf(log, "%u\n", tick) < 0) wrong = "log";
    if (wrong)
      printf("tick %u wrong: %s\n", tick, wrong);
    else
      printf("tick %u ok\n", tick);
  }
}
