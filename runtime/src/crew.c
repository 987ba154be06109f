/* The copying threads, and their progress output. */
#include "move.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct crew {
  pthread_mutex_t lock;
  pthread_cond_t more, done_more;
  void (*work)(struct crew *, size_t);
  pthread_t *threads;
  unsigned thread_count;
  size_t items, limit, next, whole; /* whole: all items below it are complete */
  bool *done, stop;
  uint64_t bytes, total;
  int code;
  char why[256];
};

static void *run(void *argument) {
  struct crew *c = argument;
  pthread_mutex_lock(&c->lock);
  for (;;) {
    while (!c->stop && c->next < c->items && c->next >= c->limit) pthread_cond_wait(&c->more, &c->lock);
    if (c->stop || c->next >= c->items) break;
    size_t item = c->next++;
    pthread_mutex_unlock(&c->lock);
    c->work(c, item);
    pthread_mutex_lock(&c->lock);
    c->done[item] = true;
    while (c->whole < c->items && c->done[c->whole]) c->whole++;
    pthread_cond_signal(&c->done_more);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

struct crew *crew_start(unsigned threads, size_t items, size_t limit, uint64_t bytes,
    void (*work)(struct crew *, size_t)) {
  struct crew *c = calloc(1, sizeof *c);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->more, NULL);
  pthread_cond_init(&c->done_more, &clock);
  c->work = work, c->items = items, c->limit = limit, c->total = bytes;
  c->done = calloc(items + 1, sizeof *c->done);
  c->threads = calloc(threads, sizeof *c->threads);
  for (; c->thread_count < threads; c->thread_count++)
    if (pthread_create(&c->threads[c->thread_count], NULL, run, c)) break;
  if (!c->thread_count) die(SYSTEM, "no thread could be started");
  return c;
}

void crew_done(struct crew *c, uint64_t bytes) { __atomic_add_fetch(&c->bytes, bytes, __ATOMIC_RELAXED); }

void crew_fail(struct crew *c, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&c->lock);
  if (!c->code) {
    c->code = code;
    vsnprintf(c->why, sizeof c->why, format, arguments);
  }
  c->stop = true;
  pthread_cond_broadcast(&c->more);
  pthread_mutex_unlock(&c->lock);
  va_end(arguments);
}

void crew_raise(struct crew *c, size_t limit) {
  pthread_mutex_lock(&c->lock);
  c->limit = limit;
  pthread_cond_broadcast(&c->more);
  pthread_mutex_unlock(&c->lock);
}

static void join(struct crew *c) {
  for (unsigned i = 0; i < c->thread_count; i++) pthread_join(c->threads[i], NULL);
  c->thread_count = 0;
}

/* A reader that no longer reads must not block us: progress is written only if there is space. */
static void progress(struct crew *c, const char *word, bool total) {
  struct pollfd out = {.fd = 1, .events = POLLOUT};
  char line[64];
  uint64_t bytes = __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
  int n = snprintf(line, sizeof line, "%s %lu", word, bytes);
  if (total) n += snprintf(line + n, sizeof line - (size_t)n, " %lu", c->total);
  line[n++] = '\n';
  if (poll(&out, 1, 0) == 1 && write(1, line, (size_t)n) < 0) errno = 0;
}

void crew_wait(struct crew *c, size_t n) {
  static struct timespec last;
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  bool ended = sigtimedwait(&ending, NULL, &(struct timespec){0}) > 0;
  pthread_mutex_lock(&c->lock);
  while (c->whole < n && !c->code && !ended) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if ((until.tv_sec - last.tv_sec) * 10 + (until.tv_nsec - last.tv_nsec) / 100000000 >= 1) {
      progress(c, "progress", true);
      last = until;
    }
    if ((until.tv_nsec += 100000000) >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&c->done_more, &c->lock, &until);
    ended = sigtimedwait(&ending, NULL, &(struct timespec){0}) > 0;
  }
  pthread_mutex_unlock(&c->lock);
  if (ended) crew_fail(c, SYSTEM, "ended by a signal");
  if (!c->code) return;
  join(c);
  die(c->code, "%s", c->why);
}

void crew_end(struct crew *c) {
  join(c);
  progress(c, "done", false);
}
