/* answer: what its two files share. */
#ifndef STASIS_ANSWER_H
#define STASIS_ANSWER_H
#include "stasis.h"

enum protocol { TCP, HTTP, GRPC };
enum verdict {
  MORE,     /* not enough was read to tell */
  ANSWERED, /* a probe, and the answer is written: nothing more is to come */
  CLIENT,   /* somebody who wants the workload itself: kept for it */
  AWAY,     /* the same, told to come again: it has seen our part of the conversation */
};

/* What was read on a connection so far. `spoken` is the speaker's own, 0 at first. */
enum verdict answer_http(int fd, const char *read, size_t length, char *const *paths, size_t count);
enum verdict answer_grpc(int fd, const char *read, size_t length, int *spoken);

#endif
