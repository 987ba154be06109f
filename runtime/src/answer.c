/* answer: answers the kubelet's probes while a workload is frozen, on duplicates of its own
 * listening sockets, so that no port and no redirection is needed. All other connections are kept,
 * and connected to the workload when it resumes. */
#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A server may have a socket for each processor on one port, and a probe reaches any of them. */
enum { SOCKETS = 128, PATHS = 8, CONNECTIONS = 384, BUFFER = 8192, STATE_EVERY_MS = 200, CONNECT_SECONDS = 5 };

static struct listener {
  int fd, pidfd, proc;
  uint64_t start;
  enum protocol protocol;
  char *paths[PATHS];
  size_t count;
} listeners[SOCKETS];
static size_t listening;

/* A connection: side 0 is the client, side 1 the workload, once it has resumed. */
static struct connection {
  int fd[2];
  const struct listener *at;
  int spoken;
  bool kept, eof[2];
  char *buffer[2];
  size_t begin[2], end[2];
} connections[CONNECTIONS];
static size_t connected;
static unsigned long answered, kept;
static volatile sig_atomic_t told_to_end;

static void on_term(int number) {
  (void)number;
  told_to_end = 1;
}

/* PID@START:FD, a listening socket of that process. */
static void add(char *text) {
  if (listening == SOCKETS) die(2, "--socket: expected at most %d", SOCKETS);
  struct listener *l = &listeners[listening];
  char *at = strchr(text, '@'), *colon = at ? strchr(at, ':') : NULL;
  uint64_t pid, fd, start;
  char path[40], state;
  if (!colon) die(2, "--socket: expected PID@START:FD, got %s", text);
  *at = *colon = 0;
  if (!parse_number(text, 10, &pid) || !parse_number(at + 1, 10, &l->start) || !parse_number(colon + 1, 10, &fd))
    die(2, "--socket: expected PID@START:FD in numbers");
  listening++;
  l->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
  snprintf(path, sizeof path, "/proc/%d", (int)pid);
  l->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (l->pidfd < 0 || l->proc < 0 || !read_stat(l->proc, "stat", &state, &start) || start != l->start)
    die(EXIT_SELF, "process %s: expected the one that started at %lu, got none", text, l->start);
  l->fd = (int)syscall(SYS_pidfd_getfd, l->pidfd, (int)fd, 0);
  if (l->fd < 0) die_errno(EXIT_SELF, "descriptor %lu of process %lu", fd, pid);
  int listens = 0;
  socklen_t size = sizeof listens;
  if (getsockopt(l->fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
    die(EXIT_SELF, "descriptor %lu of process %lu: expected a listening socket, got none", fd, pid);
}

/* Whether the workload is still frozen. Only then is a probe answered for it. */
static bool stands_still(void) {
  for (size_t i = 0; i < listening; i++) {
    char state;
    uint64_t start;
    if (!read_stat(listeners[i].proc, "stat", &state, &start) || start != listeners[i].start) return false;
    if (state != 'T' && state != 't') return false;
  }
  return true;
}

static void drop(size_t i) {
  for (int side = 0; side < 2; side++) {
    if (connections[i].fd[side] >= 0) close(connections[i].fd[side]);
    free(connections[i].buffer[side]);
  }
  connections[i] = connections[--connected];
}

static void take(const struct listener *l) {
  /* The socket's flags are shared with the workload and stay unchanged. The call does not block:
   * poll has reported a connection. */
  int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  char *buffer = malloc(BUFFER);
  if (!buffer) {
    close(fd);
    return;
  }
  connections[connected++] = (struct connection){.fd = {fd, -1}, .at = l, .buffer = {buffer, NULL}};
}

/* Reads more: false when nothing more is to be expected from this client. */
static bool listen_to(struct connection *c) {
  ssize_t n = read(c->fd[0], c->buffer[0] + c->end[0], BUFFER - c->end[0]);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  /* Without data, the client only tested whether the port is open. */
  if (n <= 0) {
    if (!n && !c->end[0]) answered++;
    return false;
  }
  c->end[0] += (size_t)n;
  enum verdict verdict = CLIENT;
  if (c->at->protocol == HTTP)
    verdict = answer_http(c->fd[0], c->buffer[0], c->end[0], c->at->paths, c->at->count);
  if (c->at->protocol == GRPC) verdict = answer_grpc(c->fd[0], c->buffer[0], c->end[0], &c->spoken);
  if (verdict == MORE && c->end[0] == BUFFER) verdict = c->spoken ? AWAY : CLIENT;
  if (verdict == CLIENT) kept += c->kept = true;
  if (verdict == ANSWERED) answered++;
  if (verdict == ANSWERED || verdict == AWAY) {
    shutdown(c->fd[0], SHUT_WR);
    c->spoken |= 4;
    c->end[0] = 0;
  }
  return true;
}

/* The answer is complete: waits for the other end to close, so that no reset discards the answer. */
static bool linger(struct connection *c) {
  char rest[BUFFER];
  ssize_t n = read(c->fd[0], rest, sizeof rest);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The workload resumes: every kept client is connected to it. */
static void hand_over(void) {
  for (size_t i = connected; i-- > 0;) {
    struct connection *c = &connections[i];
    struct sockaddr_storage self;
    socklen_t size = sizeof self;
    struct timeval limit = {.tv_sec = CONNECT_SECONDS};
    if (c->spoken || getsockname(c->fd[0], (struct sockaddr *)&self, &size) || !(c->buffer[1] = malloc(BUFFER))) {
      drop(i);
      continue;
    }
    int up = socket(self.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (up < 0 || setsockopt(up, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) ||
        connect(up, (struct sockaddr *)&self, size) || fcntl(up, F_SETFL, O_NONBLOCK)) {
      if (up >= 0) close(up);
      drop(i);
      continue;
    }
    c->fd[1] = up;
  }
}

/* Copies bytes from one side to the other; false when the connection is over. */
static bool relay(struct connection *c, int from) {
  int to = 1 - from;
  if (c->begin[from] == c->end[from] && !c->eof[from]) {
    ssize_t n = read(c->fd[from], c->buffer[from], BUFFER);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    c->begin[from] = 0;
    c->end[from] = (size_t)n;
    if (!n) c->eof[from] = true;
  }
  while (c->begin[from] < c->end[from]) {
    ssize_t n = send(c->fd[to], c->buffer[from] + c->begin[from], c->end[from] - c->begin[from], MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    c->begin[from] += (size_t)n;
  }
  if (c->eof[from]) shutdown(c->fd[to], SHUT_WR);
  return !(c->eof[0] && c->eof[1]);
}

static void run_frozen(void) {
  struct pollfd fds[SOCKETS * 2 + CONNECTIONS];
  while (!told_to_end && stands_still()) {
    size_t n = 0;
    for (size_t i = 0; i < listening; i++) {
      fds[n++] = (struct pollfd){.fd = connected + SOCKETS < CONNECTIONS ? listeners[i].fd : -1, .events = POLLIN};
      fds[n++] = (struct pollfd){.fd = listeners[i].pidfd, .events = POLLIN};
    }
    size_t first = n, seen = connected;
    for (size_t i = 0; i < connected; i++)
      fds[n++] = (struct pollfd){.fd = connections[i].fd[0], .events = connections[i].kept ? 0 : POLLIN};
    /* There is no event for a SIGCONT: checked five times a second, so that kept clients wait only
     * briefly. */
    if (poll(fds, n, STATE_EVERY_MS) <= 0) continue;
    if (!stands_still()) break;
    for (size_t i = seen; i-- > 0;) {
      struct connection *c = &connections[i];
      bool over = fds[first + i].revents & (POLLERR | POLLNVAL) || (c->kept && fds[first + i].revents & POLLHUP);
      if (!over && fds[first + i].revents & (POLLIN | POLLHUP)) over = !(c->spoken & 4 ? linger(c) : listen_to(c));
      if (over) drop(i);
    }
    for (size_t i = 0; i < listening; i++)
      if (fds[2 * i].revents & POLLIN) take(&listeners[i]);
  }
}

static void run_handing(void) {
  struct pollfd fds[2 * CONNECTIONS];
  while (connected) {
    for (size_t i = 0; i < connected; i++)
      for (int side = 0; side < 2; side++) {
        struct connection *c = &connections[i];
        bool full = c->begin[side] < c->end[side], other = c->begin[1 - side] < c->end[1 - side];
        fds[2 * i + (size_t)side] = (struct pollfd){.fd = c->fd[side],
            .events = (short)((full || c->eof[side] ? 0 : POLLIN) | (other ? POLLOUT : 0))};
      }
    if (poll(fds, 2 * connected, -1) < 0 && errno != EINTR) return;
    for (size_t i = connected; i-- > 0;) {
      bool broken = (fds[2 * i].revents | fds[2 * i + 1].revents) & (POLLERR | POLLNVAL);
      if (broken || !relay(&connections[i], 0) || !relay(&connections[i], 1)) drop(i);
    }
  }
}

int cmd_answer(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *value = i + 1 < argc ? argv[i + 1] : NULL;
    struct listener *l = listening ? &listeners[listening - 1] : NULL;
    if (!strcmp(argv[i], "--socket") && value) add(argv[++i]);
    else if (!strcmp(argv[i], "--grpc") && l) l->protocol = GRPC;
    else if (!strcmp(argv[i], "--http") && l && value && l->count < PATHS) {
      l->protocol = HTTP;
      l->paths[l->count++] = argv[++i];
    } else die(2, "usage: answer {--socket PID@START:FD [--http PATH]... [--grpc]}...");
  }
  if (!listening) die(2, "usage: answer {--socket PID@START:FD [--http PATH]... [--grpc]}...");
  /* The connection to the workload must be made from inside the pod. */
  int net = openat(listeners[0].proc, "ns/net", O_RDONLY | O_CLOEXEC);
  if (net < 0 || setns(net, CLONE_NEWNET)) die_errno(EXIT_SELF, "network namespace");
  close(net);
  struct sigaction term = {.sa_handler = on_term};
  sigaction(SIGTERM, &term, NULL);
  sigaction(SIGINT, &term, NULL);
  /* Probes are answered as long as the workload is frozen, even if the parent process has ended. */
  signal(SIGPIPE, SIG_IGN);
  setsid();
  dprintf(1, "answering\n");
  run_frozen();
  for (size_t i = 0; i < listening; i++) close(listeners[i].fd);
  dprintf(1, "answered %lu kept %lu\n", answered, kept);
  hand_over();
  run_handing();
  return 0;
}
