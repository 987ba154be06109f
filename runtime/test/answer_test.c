/* answer: a server that stands still is answered for, on its own socket, and loses no client. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *tools;
static char why[600];
static int failed, server_fd;

static bool no(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool no(const char *format, ...) {
  va_list a;
  va_start(a, format);
  if (!*why) vsnprintf(why, sizeof why, format, a);
  va_end(a);
  return false;
}
static void nap(long milliseconds) { nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL); }

static pid_t server, helper;
static unsigned short port;
static int said = -1; /* what the helper prints */

/* A server that says "workload" to everybody, once it runs. */
static bool serve(void) {
  int s = server_fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof a;
  if (bind(s, (void *)&a, n) || listen(s, 64) || getsockname(s, (void *)&a, &n)) return no("no server");
  port = ntohs(a.sin_port);
  if (!(server = fork())) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      int c = accept(s, NULL, NULL);
      char in[512];
      if (read(c, in, sizeof in) > 0) dprintf(c, "workload");
      close(c);
    }
  }
  close(s);
  kill(server, SIGSTOP);
  int status;
  return waitpid(server, &status, WUNTRACED) == server || no("not stopped");
}

static unsigned long long start_of(pid_t pid) {
  char path[40], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "r");
  if (f) {
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    fclose(f);
  }
  unsigned long long start = 0;
  char *p = strrchr(text, ')');
  if (p) sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start);
  return start;
}

static bool answer_for(const char *how, const char *path) {
  char socket_name[80], program[300], line[64] = "";
  snprintf(socket_name, sizeof socket_name, "%d@%llu:%d", server, start_of(server), server_fd);
  snprintf(program, sizeof program, "%s/stasis-runtime", tools);
  int out[2];
  if (pipe(out)) return no("no pipe");
  if (!(helper = fork())) {
    dup2(out[1], 1);
    execl(program, program, "answer", "--socket", socket_name, how, path, NULL);
    _exit(127);
  }
  close(out[1]);
  said = out[0];
  return (read(said, line, sizeof line) > 0 && !strncmp(line, "answering", 9)) || no("helper: %s", line);
}

static int ask(const char *bytes, size_t length) {
  int s = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 30}, sizeof(struct timeval));
  if (connect(s, (void *)&a, sizeof a) || send(s, bytes, length, MSG_NOSIGNAL) < 0) return -1;
  return s;
}

static size_t hear(int s, char *text, size_t size) {
  size_t n = 0;
  for (ssize_t got; n < size - 1 && (got = read(s, text + n, size - 1 - n)) > 0;) n += (size_t)got;
  text[n] = 0;
  return n;
}

static bool silent(int s) {
  char byte;
  nap(300);
  return recv(s, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

#define KUBELET "GET /healthz HTTP/1.1\r\nHost: x\r\nUser-Agent: kube-probe/1.36\r\n\r\n"
#define CLIENT "GET /healthz HTTP/1.1\r\nHost: x\r\nUser-Agent: curl/8\r\n\r\n"

static bool the_kubelet_is_answered_and_a_client_is_kept_for_the_workload(void) {
  char text[1024];
  if (!serve() || !answer_for("--http", "/healthz")) return false;
  int client = ask(CLIENT, strlen(CLIENT)), other = ask("GET / HTTP", 10);
  for (int i = 0; i < 5; i++) {
    int probe = ask(KUBELET, strlen(KUBELET));
    if (!hear(probe, text, sizeof text) || strncmp(text, "HTTP/1.1 200 ", 13)) return no("probe: %s", text);
    close(probe);
  }
  if (!silent(client)) return no("a client was answered in the workload's name");
  kill(server, SIGCONT);
  hear(client, text, sizeof text);
  if (strcmp(text, "workload")) return no("client: expected the workload, got \"%s\"", text);
  hear(other, text, sizeof text);
  if (strcmp(text, "workload")) return no("half a request: expected the workload, got \"%s\"", text);
  close(client);
  close(other);
  int status;
  return (waitpid(helper, &status, 0) == helper && status == 0) || no("helper: %d", status);
}

static bool a_running_server_is_never_answered_for(void) {
  char text[1024];
  if (!serve()) return false;
  kill(server, SIGCONT);
  if (!answer_for("--http", "/healthz")) return false;
  int probe = ask(KUBELET, strlen(KUBELET));
  hear(probe, text, sizeof text);
  return !strcmp(text, "workload") || no("expected the workload, got \"%s\"", text);
}

static bool connections_without_a_word_never_fill_the_backlog(void) {
  if (!serve() || !answer_for("--http", "/")) return false;
  for (int i = 0; i < 500; i++) {
    int s = ask("", 0);
    if (s < 0) return no("connection %d was refused", i);
    close(s);
  }
  return true;
}

static bool a_health_check_is_told_serving_and_any_other_call_to_come_again(void) {
  static const char head[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" "\0\0\0\x04\0\0\0\0\0";
  char request[200], text[1024];
  size_t n = sizeof head - 1;
  memcpy(request, head, n);
  static const char block[] = "\x44\x1c" "/grpc.health.v1.Health/Check" "\x7a\x0f" "kube-probe/1.36";
  char frame[9] = {0, 0, (char)(sizeof block - 1), 1, 5, 0, 0, 0, 1};
  memcpy(request + n, frame, 9);
  memcpy(request + n + 9, block, sizeof block - 1);
  size_t length = n + 9 + sizeof block - 1;
  if (!serve() || !answer_for("--grpc", NULL)) return false;
  int probe = ask(request, length);
  size_t got = hear(probe, text, sizeof text);
  if (!memmem(text, got, "\0\0\0\0\x02\x08\x01", 7) || !memmem(text, got, "grpc-status\x01" "0", 13))
    return no("no SERVING among %zu bytes", got);
  memcpy(request + n + 9 + 2, "/some.other.v1.Service/Check", 28);
  int call = ask(request, length);
  got = hear(call, text, sizeof text);
  return memmem(text, got, "\0\0\x08\x07\0\0\0\0\0", 9) != NULL || no("no GOAWAY among %zu bytes", got);
}

static bool a_server_with_a_socket_for_each_processor_is_answered_for(void) {
  enum { MANY = 40 };
  static char names[MANY][80], command[] = "answer", option[] = "--socket", http[] = "--http", path[] = "/healthz";
  char program[300], line[64] = "", text[1024], *arguments[4 * MANY + 3];
  int sockets[MANY], out[2], status, n = 0;
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  for (int i = 0; i < MANY; i++) {
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    if (setsockopt(sockets[i], SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int)) ||
        bind(sockets[i], (void *)&a, sizeof a) || listen(sockets[i], 64) || getsockname(sockets[i], (void *)&a, &size))
      return no("no server");
  }
  port = ntohs(a.sin_port);
  if (!(server = fork())) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  kill(server, SIGSTOP);
  if (waitpid(server, &status, WUNTRACED) != server) return no("not stopped");
  snprintf(program, sizeof program, "%s/stasis-runtime", tools);
  arguments[n++] = program;
  arguments[n++] = command;
  for (int i = 0; i < MANY; i++) {
    snprintf(names[i], sizeof names[i], "%d@%llu:%d", server, start_of(server), sockets[i]);
    arguments[n++] = option;
    arguments[n++] = names[i];
    arguments[n++] = http;
    arguments[n++] = path;
    close(sockets[i]);
  }
  arguments[n] = NULL;
  if (pipe(out)) return no("no pipe");
  if (!(helper = fork())) {
    dup2(out[1], 1);
    execv(program, arguments);
    _exit(127);
  }
  close(out[1]);
  said = out[0];
  if (read(said, line, sizeof line - 1) <= 0 || strncmp(line, "answering", 9)) return no("helper: %s", line);
  /* The kernel spreads the connections over the sockets. */
  for (int i = 0; i < 3 * MANY; i++) {
    int probe = ask(KUBELET, strlen(KUBELET));
    if (!hear(probe, text, sizeof text) || strncmp(text, "HTTP/1.1 200 ", 13)) return no("probe %d: %s", i, text);
    close(probe);
  }
  return true;
}

static void run(const char *name, bool (*test)(void)) {
  *why = 0;
  server = helper = 0;
  bool good = test();
  if (server) kill(server, SIGKILL);
  if (helper) kill(helper, SIGKILL);
  while (wait(NULL) > 0) continue;
  if (said >= 0) close(said);
  said = -1;
  printf(good ? "ok   %s\n" : "FAIL %s: %s\n", name, why);
  failed += !good;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  tools = argc > 1 ? argv[1] : "target";
#define RUN(test) run(#test, test)
  RUN(the_kubelet_is_answered_and_a_client_is_kept_for_the_workload);
  RUN(a_running_server_is_never_answered_for);
  RUN(connections_without_a_word_never_fill_the_backlog);
  RUN(a_health_check_is_told_serving_and_any_other_call_to_come_again);
  RUN(a_server_with_a_socket_for_each_processor_is_answered_for);
  return failed != 0;
}
