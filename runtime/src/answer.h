/* answer: shared by its two files. */
#ifndef STASIS_ANSWER_H
#define STASIS_ANSWER_H
#include "stasis.h"

enum protocol { TCP, HTTP, GRPC };
enum verdict {
  MORE,     /* not enough data to decide */
  ANSWERED, /* a probe that was answered: no more data follows */
  CLIENT,   /* a client of the workload itself: kept for it */
  AWAY,     /* the same, but told to reconnect, because it has seen our answer */
};

/* The data read on a connection so far. `spoken` is for the protocol's state, initially 0. */
enum verdict answer_http(int fd, const char *read, size_t length, char *const *paths, size_t count);
enum verdict answer_grpc(int fd, const char *read, size_t length, int *spoken);

#endif
