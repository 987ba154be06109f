/* stasis-runtime: shared by its commands. docs/node-engine.md is the contract. */
#ifndef STASIS_H
#define STASIS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int cmd_init(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_install(int argc, char **argv);
int cmd_enter(int argc, char **argv);
int cmd_move(int argc, char **argv);
int cmd_guard(int argc, char **argv);
int cmd_answer(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_addresses(int argc, char **argv);
int cmd_connections(int argc, char **argv);
int cmd_filters(int argc, char **argv);
int cmd_ipc(int argc, char **argv);
int cmd_pause(int argc, char **argv);
int cmd_spawn(int argc, char **argv);

/* Enters a namespace of the process that the arguments name, or ends this program. */
void enter_namespace(int argc, char **argv, const char *type, int flag);

/* Exit codes of init, enter, install, answer, addresses, connections, filters and ipc themselves, not
 * of the program. */
enum { EXIT_RESTORE_FAILED = 78, EXIT_SELF = 125 };

/* Prints one line on standard error and ends the process. */
_Noreturn void die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, followed by the text of errno. */
_Noreturn void die_errno(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Parses a whole decimal number (or hex with base 16); false for anything else. */
bool parse_number(const char *text, int base, uint64_t *value);
/* Reads a small file relative to dir into a zero-terminated buffer: its length, or -1. */
ssize_t read_small(int dir, const char *name, char *buffer, size_t size);
/* State and start time (fields 3 and 22) of a stat file of /proc; false if it is gone. */
bool read_stat(int dir, const char *name, char *state, uint64_t *start);
/* Called before die ends the process, to undo changes. */
extern void (*before_dying)(void);
/* The shell's exit code for a child: its code, or 128 + the signal. */
int exit_code_of(int wait_status);

#endif
