/* spawn: starts programs for the agent, as its children. A process that the agent itself starts
 * inherits the agent's files and closes them before it runs its program; closing one that was
 * written on NFS waits for the server. This process has none of them: it was started before.
 *
 * A new process first waits for the agent's word, so that a start that the agent has given up by
 * then never runs the program. docs/node-engine.md has the protocol. */
#include "stasis.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_STARTS = 256, WAITS = -1, GATE = 3, REPORT = 4 };

/* Arguments and environment together; the kernel takes 6 MiB at most. */
#define LONGEST (16U << 20)

static struct start {
  uint32_t id;
  pid_t pid;
  int gate, report; /* written and read by us */
} starts[MOST_STARTS];
static int count, in, out;

static void answer(uint32_t id, pid_t pid, int error) {
  int32_t words[] = {(int32_t)id, pid, error};
  if (write(out, words, sizeof words) != sizeof words) _exit(0);
}

/* Ends this process with the agent. */
static void read_all(void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(in, (char *)to + done, size - done);
    if (n <= 0 && !(n < 0 && errno == EINTR)) _exit(0);
    if (n > 0) done += (size_t)n;
  }
}

static bool open_as(int fd, const char *stream) {
  int flags = *stream == 'r'   ? O_RDONLY
              : *stream == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
              : *stream == 'a' ? O_WRONLY | O_CREAT | O_APPEND
                               : O_WRONLY;
  if (*stream == '=') return dup2(1, fd) >= 0;
  int opened = open(stream + 1, flags | O_CLOEXEC, 0666);
  return opened >= 0 && dup2(opened, fd) >= 0;
}

/* Texts are the three streams, the folder, the number of arguments, these, and the environment. */
static _Noreturn void become(char **texts) {
  char go;
  uint64_t arguments = 0;
  if (read(GATE, &go, 1) != 1) _exit(0);
  parse_number(texts[4], 10, &arguments);
  bool ready = open_as(0, texts[0]) && open_as(1, texts[1]) && open_as(2, texts[2]) &&
               (!*texts[3] || !chdir(texts[3]));
  if (ready) {
    signal(SIGPIPE, SIG_DFL);
    /* A zero-terminated copy; the environment begins where the arguments end. */
    char **argv = calloc(arguments + 1, sizeof *argv);
    if (argv) {
      memcpy(argv, texts + 5, arguments * sizeof *argv);
      environ = texts + 5 + arguments;
      execvp(argv[0], argv);
    }
  }
  int error = errno;
  ssize_t unused = write(REPORT, &error, sizeof error);
  (void)unused;
  _exit(127);
}

/* Returns pointers to the zero-terminated texts, with a null pointer at the end. */
static char **split(char *texts, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < size; i++) n += !texts[i];
  char **all = calloc(n + 1, sizeof *all);
  if (!all || n < 6 || texts[size - 1]) return NULL;
  for (size_t i = 0; i < n; i++, texts += strlen(texts) + 1) all[i] = texts;
  return all;
}

static void begin(uint32_t id, char *request, size_t size) {
  int gate[2], report[2];
  char **texts = split(request, size);
  if (!texts) die(2, "expected streams, folder and arguments of a program");
  if (count == MOST_STARTS || pipe2(gate, O_CLOEXEC)) {
    answer(id, 0, EAGAIN);
  } else if (pipe2(report, O_CLOEXEC)) {
    answer(id, 0, errno);
    close(gate[0]);
    close(gate[1]);
  } else {
    /* The agent is its parent, as of every program that it starts: it gets the exit code. */
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (!pid) {
      int g = fcntl(gate[0], F_DUPFD, REPORT + 1), r = fcntl(report[1], F_DUPFD, REPORT + 1);
      dup3(g, GATE, O_CLOEXEC);
      dup3(r, REPORT, O_CLOEXEC);
      /* Among the others are our own end of the gate, and those of other starts. */
      syscall(SYS_close_range, REPORT + 1U, ~0U, 0U);
      become(texts);
    }
    int error = errno;
    close(gate[0]);
    close(report[1]);
    if (pid < 0) {
      close(gate[1]);
      close(report[0]);
    } else {
      starts[count++] = (struct start){id, pid, gate[1], report[0]};
    }
    answer(id, pid < 0 ? 0 : pid, pid < 0 ? error : WAITS);
  }
  free(texts);
}

static void take_request(void) {
  uint32_t words[2];
  read_all(words, sizeof words);
  if (words[1] > LONGEST) die(2, "expected a request of at most %u bytes", LONGEST);
  if (words[1]) {
    char *request = malloc(words[1]);
    if (!request) die_errno(EXIT_SELF, "a request");
    read_all(request, words[1]);
    begin(words[0], request, words[1]);
    free(request);
    return;
  }
  for (struct start *s = starts; s < starts + count; s++)
    if (s->id == words[0] && s->gate >= 0) {
      ssize_t unused = write(s->gate, "", 1);
      (void)unused;
      close(s->gate);
      s->gate = -1;
    }
}

/* The other end is closed when the program runs, or the process has ended. */
static void report(int i) {
  struct start *s = starts + i;
  int error = 0;
  if (read(s->report, &error, sizeof error) != sizeof error) error = 0;
  answer(s->id, s->pid, error);
  close(s->report);
  if (s->gate >= 0) close(s->gate);
  starts[i] = starts[--count];
}

int cmd_spawn(int argc, char **argv) {
  (void)argv;
  if (argc != 1) die(2, "usage: spawn");
  setsid(); /* Ctrl-C on the agent's terminal is for the agent. */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_IGN);
  in = fcntl(0, F_DUPFD_CLOEXEC, 3);
  out = fcntl(1, F_DUPFD_CLOEXEC, 3);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) die_errno(EXIT_SELF, "streams");
  answer(0, getpid(), 0);
  for (;;) {
    struct pollfd polled[MOST_STARTS + 1] = {{.fd = in, .events = POLLIN}};
    for (int i = 0; i < count; i++) polled[i + 1] = (struct pollfd){.fd = starts[i].report, .events = POLLIN};
    if (poll(polled, (nfds_t)count + 1, -1) < 0) continue;
    /* From the last one, whose place a finished one before it takes. */
    for (int i = count - 1; i >= 0; i--)
      if (polled[i + 1].revents) report(i);
    if (polled[0].revents) take_request();
  }
}
