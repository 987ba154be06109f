/* Shared by the files of "enter". */
#ifndef STASIS_ENTER_H
#define STASIS_ENTER_H
#include "stasis.h"

#define MANY 256

/* Moves a descriptor above every number that --fd may name; ends the process if it is negative. */
int ours(int fd, const char *what);
/* Splits LEFT=RIGHT and returns RIGHT. */
char *half(char *text, char at, const char *option);
/* Opens a path (O_PATH) without following any link; -1 with errno. */
int resolved(int dir, const char *path, uint64_t flags, uint64_t how);
/* Changes the propagation of a mount and of all mounts below it. */
void cut_off(int fd, const char *path, unsigned flags, uint64_t propagation);

/* own_root.c */
void take_take(char *text);
bool any_taken(void);
/* Opens what --own-root needs from the host, before any namespace is entered. */
void own_root_wanted(void);
/* Returns a copy of one mount, without what is mounted below it. */
int copy_of(int at, const char *path);
/* Opens the container's mounts of --take, before the root changes. */
void open_takes(void);
void enter_own_root(void);
void make_place(const char *path, bool folder);
void attach(int tree, const char *place, bool folder);
void attach_takes(void);

#endif
