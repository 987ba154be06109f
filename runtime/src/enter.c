/* enter: runs a program inside the cgroups and namespaces of a container, with folders and
 * descriptors of the host that the container itself never sees.
 *
 * The container's root file system is hostile: everything of the host is opened before any
 * namespace is entered, and mount points are resolved without following links.
 *
 * With --own-root the program does not use the container's root. Its root is an empty tmpfs in a
 * private mount namespace, so that no path that the program opens, and no program that it finds by
 * PATH, belongs to the container. The container's tree is a folder below that root. */
#include "enter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Our own descriptors are above every number that --fd may name. */
#define OURS 100

static struct bring {
  const char *folder;
  int tree;
} brings[MANY];
static struct handed {
  int number, fd;
} handed[MANY];
/* In the order in which they are entered: the pid namespace before the mounts, so that all reads
 * through /proc are done by then. */
static struct ns {
  const char *name;
  int flag, fd;
} spaces[] = {{"net", CLONE_NEWNET, -1}, {"uts", CLONE_NEWUTS, -1}, {"ipc", CLONE_NEWIPC, -1},
              {"cgroup", CLONE_NEWCGROUP, -1}, {"pid", CLONE_NEWPID, -1}, {"mnt", CLONE_NEWNS, -1}};
enum { NS_PID = 4, NS_MNT = 5, NS_COUNT = 6 };
static int bring_count, handed_count, log_fd = -1, pid_file = -1;
static const char *root_bind;
static bool fresh_proc, own_root;
static uint64_t real_uid = UINT64_MAX, real_gid = UINT64_MAX;
static sigset_t mask_before;

int ours(int fd, const char *what) {
  int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, OURS);
  if (high < 0) die_errno(EXIT_SELF, "%s", what);
  close(fd);
  return high;
}

char *half(char *text, char at, const char *option) {
  char *cut = text ? strchr(text, at) : NULL;
  if (!cut || cut == text || !cut[1]) die(2, "%s: expected LEFT%cRIGHT, got %s", option, at, text);
  *cut = 0;
  return cut + 1;
}

static uint64_t number(const char *text, const char *option) {
  uint64_t value;
  if (!parse_number(text, 10, &value) || value >= UINT32_MAX)
    die(2, "%s: expected a number, got %s", option, text);
  return value;
}

static bool join_cgroup(const char *dir) {
  int d = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fd = d < 0 ? -1 : openat(d, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  bool joined = fd >= 0 && write(fd, "0\n", 2) == 2;
  int why = errno;
  if (fd >= 0) close(fd);
  if (d >= 0) close(d);
  errno = why;
  return joined;
}

/* Lowering it needs CAP_SYS_RESOURCE, which root lacks on some machines: the value then stays. */
static void try_oom_score_adj(const char *value) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t unchanged = write(fd, value, strlen(value));
  (void)unchanged;
  close(fd);
}

static void take_fd(char *text) {
  char *mode = half(text, '=', "--fd"), *path = half(mode, ':', "--fd");
  int flags = !strcmp(mode, "r")    ? O_RDONLY
              : !strcmp(mode, "w")  ? O_WRONLY
              : !strcmp(mode, "a")  ? O_WRONLY | O_APPEND
              : !strcmp(mode, "rw") ? O_RDWR
                                    : -1;
  if (flags < 0) die(2, "--fd: expected r, w, a or rw, got %s", mode);
  uint64_t n = number(text, "--fd");
  if (n >= OURS) die(2, "--fd: expected a number below %d, got %s", OURS, text);
  /* Without O_NONBLOCK, a pipe without a reader would block forever. */
  int fd = ours(open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), path);
  if (fcntl(fd, F_SETFL, flags & O_APPEND)) die_errno(EXIT_SELF, "%s", path);
  if (handed_count == MANY) die(2, "--fd: at most %d", MANY);
  handed[handed_count++] = (struct handed){(int)n, fd};
}

void cut_off(int fd, const char *path, unsigned flags, uint64_t propagation) {
  struct mount_attr attr = {.propagation = propagation};
  if (syscall(SYS_mount_setattr, fd, path, flags | AT_RECURSIVE, &attr, sizeof attr))
    die_errno(EXIT_SELF, "changing the propagation of mounts");
}

static void read_only(int fd) {
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr))
    die_errno(EXIT_SELF, "making a mount read-only");
}

static void take_bring(char *text, bool writable) {
  const char *folder = half(text, '=', "--bring");
  if (*folder != '/') die(2, "--bring: expected an absolute folder, got %s", folder);
  if (bring_count == MANY) die(2, "--bring: at most %d", MANY);
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
  int fd = (int)syscall(SYS_open_tree, AT_FDCWD, text, flags);
  int tree = ours(fd, text);
  /* The copy would otherwise be a peer of the host's mount, and mounts would propagate to it. */
  cut_off(tree, "", AT_EMPTY_PATH, MS_PRIVATE);
  if (!writable) read_only(tree);
  brings[bring_count++] = (struct bring){folder, tree};
}

static void want_spaces(char *list) {
  char *rest, *name;
  for (name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    struct ns *s = spaces;
    while (s < spaces + NS_COUNT && strcmp(s->name, name)) s++;
    if (s == spaces + NS_COUNT) die(2, "--ns: expected net, uts, ipc, cgroup, pid or mnt, got %s", name);
    s->fd = -2;
  }
}

/* The start time of a process, 0 if it is gone. */
static uint64_t start_of(pid_t pid) {
  char path[32], state;
  uint64_t start;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  return read_stat(AT_FDCWD, path, &state, &start) ? start : 0;
}

static void open_spaces(uint64_t pid, uint64_t start) {
  for (struct ns *s = spaces; s < spaces + NS_COUNT; s++) {
    if (s->fd != -2) continue;
    char path[64];
    if (!pid) die(2, "--ns: expected --pid with it");
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, s->name);
    s->fd = ours(open(path, O_RDONLY | O_CLOEXEC), path);
  }
  if (start && start_of((pid_t)pid) != start) die(EXIT_SELF, "process %d is not the one named", (int)pid);
}

int resolved(int dir, const char *path, uint64_t flags, uint64_t how) {
  struct open_how h = {.flags = flags | O_PATH | O_CLOEXEC | O_NOFOLLOW,
                       .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | how};
  return (int)syscall(SYS_openat2, dir, path, &h, sizeof h);
}

/* Mounts a detached mount on a folder of the container; a missing last folder is created. */
static void put(int tree, const char *folder) {
  int at = resolved(AT_FDCWD, folder, O_DIRECTORY, 0);
  const char *name = strrchr(folder, '/') + 1;
  if (at < 0 && errno == ENOENT && *name) {
    char *parent = strndup(folder, (size_t)(name - folder));
    int in = resolved(AT_FDCWD, parent, O_DIRECTORY, 0);
    if (in >= 0 && !mkdirat(in, name, 0700)) at = resolved(in, name, O_DIRECTORY, RESOLVE_BENEATH);
    free(parent);
  }
  unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  if (at < 0 || syscall(SYS_move_mount, tree, "", at, "", flags))
    die_errno(EXIT_SELF, "mounting on %s", folder);
  close(at);
}

static void mount_proc(void) {
  int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
  if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
    die_errno(EXIT_SELF, "a fresh /proc");
  unsigned flags = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  int tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, flags);
  if (tree < 0) die_errno(EXIT_SELF, "a fresh /proc");
  put(tree, "/proc");
}

/* A program below a brought folder is opened from that mount itself: a process of the container
 * that moves folders cannot have another program run with our rights. */
static int open_program(const char *program) {
  for (struct bring *b = brings; b < brings + bring_count; b++) {
    size_t n = strlen(b->folder);
    if (strncmp(program, b->folder, n) || program[n] != '/') continue;
    int fd = resolved(b->tree, program + n + 1, 0, RESOLVE_BENEATH);
    if (fd < 0) die_errno(EXIT_SELF, "%s", program);
    return fd;
  }
  return -1;
}

static void arrange_mounts(void) {
  if (!bring_count && !root_bind && !fresh_proc && !own_root) return;
  if (unshare(CLONE_NEWNS)) die_errno(EXIT_SELF, "a private mount namespace");
  /* Slaves, so that mounts made here stay here. Not private: criu restores the place of a mount
   * that was a slave of the host's among the host's mounts, and takes it from the holder's. */
  cut_off(AT_FDCWD, "/", 0, MS_SLAVE);
  if (!own_root) {
    for (struct bring *b = brings; b < brings + bring_count; b++) put(b->tree, b->folder);
    if (root_bind) put(copy_of(AT_FDCWD, "/"), root_bind);
    if (fresh_proc) mount_proc();
    return;
  }
  open_takes();
  int containers = root_bind ? copy_of(AT_FDCWD, "/") : -1;
  enter_own_root();
  for (struct bring *b = brings; b < brings + bring_count; b++) attach(b->tree, b->folder, true);
  attach_takes();
  if (root_bind) attach(containers, root_bind, true);
  if (fresh_proc) {
    make_place("/proc", true);
    mount_proc();
  }
}

static _Noreturn void run_inside(char **program) {
  if (spaces[NS_MNT].fd >= 0 && setns(spaces[NS_MNT].fd, CLONE_NEWNS))
    die_errno(EXIT_SELF, "entering mnt");
  int file = open_program(program[0]);
  arrange_mounts();
  /* criu may read the limits of a process with the same real ids as its own, even if root lacks
   * CAP_SYS_RESOURCE; the effective ids stay root's. */
  if (real_gid != UINT64_MAX && setresgid((gid_t)real_gid, (gid_t)-1, (gid_t)-1))
    die_errno(EXIT_SELF, "--real-gid");
  if (real_uid != UINT64_MAX && setresuid((uid_t)real_uid, (uid_t)-1, (uid_t)-1))
    die_errno(EXIT_SELF, "--real-uid");
  int own_error = ours(dup(2), "standard error");
  if (log_fd >= 0 && (dup2(log_fd, 1) < 0 || dup2(log_fd, 2) < 0)) die_errno(EXIT_SELF, "--log");
  for (struct handed *h = handed; h < handed + handed_count; h++)
    if (dup2(h->fd, h->number) < 0) die_errno(EXIT_SELF, "--fd %d", h->number);
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
  /* Without a PATH, execvp would search /bin and /usr/bin. */
  static char *nothing[] = {"PATH=/nonexistent", NULL};
  if (file >= 0) syscall(SYS_execveat, file, "", program, own_root ? nothing : environ, AT_EMPTY_PATH);
  else execvp(program[0], program);
  int error = errno;
  dup2(own_error, 2);
  errno = error;
  die_errno(EXIT_SELF, "%s", program[0]);
}

static void write_pid_file(pid_t pid) {
  if (pid_file >= 0 && dprintf(pid_file, "%d %lu\n", pid, start_of(pid)) < 0)
    die_errno(EXIT_SELF, "--pid-file");
}

/* Only a child is in the pid namespace. It waits until its host pid is recorded, so that it can
 * always be found, even if we are killed; then it continues without us. */
static _Noreturn void run_in_child(char **program) {
  int gate[2], status;
  if (pipe2(gate, O_CLOEXEC)) die_errno(EXIT_SELF, "pipe");
  int in = ours(gate[0], "pipe"), out = ours(gate[1], "pipe");
  pid_t child = fork();
  if (child < 0) die_errno(EXIT_SELF, "fork into the pid namespace");
  if (!child) {
    char go;
    close(out);
    if (read(in, &go, 1) != 1) _exit(EXIT_SELF);
    run_inside(program);
  }
  close(in);
  write_pid_file(child);
  if (write(out, "", 1) != 1) die_errno(EXIT_SELF, "the child");
  sigset_t wait;
  sigemptyset(&wait);
  for (int *s = (int[]){SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, 0}; *s; s++) sigaddset(&wait, *s);
  for (;;) {
    if (waitpid(child, &status, WNOHANG) == child) _exit(exit_code_of(status));
    int signal = sigwaitinfo(&wait, NULL);
    if (signal > 0 && signal != SIGCHLD) kill(child, signal);
  }
}

int cmd_enter(int argc, char **argv) {
  uint64_t pid = 0, start = 0;
  int i = 1;
  sigset_t all;
  sigfillset(&all);
  setsid(); /* Ctrl-C on the agent's terminal is for the agent, which ends us if necessary. */
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &all, &mask_before);
  /* Only the descriptors of --fd are passed on. */
  syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  for (; i < argc && strcmp(argv[i], "--"); i++) {
    const char *o = argv[i];
    if (!strcmp(o, "--fresh-proc")) {
      fresh_proc = true;
      continue;
    }
    if (!strcmp(o, "--own-root")) {
      own_root = true;
      own_root_wanted();
      continue;
    }
    char *value = argv[++i];
    if (!value) die(2, "%s: expected a value", o);
    if (!strcmp(o, "--pid")) pid = number(value, o);
    else if (!strcmp(o, "--start") && parse_number(value, 10, &start)) continue;
    else if (!strcmp(o, "--ns")) want_spaces(value);
    else if (!strcmp(o, "--cgroup")) {
      if (!join_cgroup(value)) die_errno(EXIT_SELF, "cgroup %s", value);
    } else if (!strcmp(o, "--try-cgroup")) (void)join_cgroup(value);
    else if (!strcmp(o, "--try-oom-score-adj")) try_oom_score_adj(value);
    else if (!strcmp(o, "--bring")) take_bring(value, true);
    else if (!strcmp(o, "--bring-ro")) take_bring(value, false);
    else if (!strcmp(o, "--take")) take_take(value);
    else if (!strcmp(o, "--root-bind")) root_bind = value;
    else if (!strcmp(o, "--fd")) take_fd(value);
    else if (!strcmp(o, "--real-uid")) real_uid = number(value, o);
    else if (!strcmp(o, "--real-gid")) real_gid = number(value, o);
    else if (!strcmp(o, "--log"))
      log_fd = ours(open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), value);
    else if (!strcmp(o, "--pid-file"))
      pid_file = ours(open(value, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), value);
    else die(2, "unknown option or value: %s %s", o, value);
  }
  if (i + 1 >= argc) die(2, "expected -- PROGRAM ARG...");
  if (root_bind && *root_bind != '/')
    die(2, "--root-bind: expected an absolute folder, got %s", root_bind);
  if (any_taken() && !own_root) die(2, "--take: expected --own-root with it");
  open_spaces(pid, start);
  for (struct ns *s = spaces; s < spaces + NS_MNT; s++)
    if (s->fd >= 0 && setns(s->fd, s->flag)) die_errno(EXIT_SELF, "entering %s", s->name);
  if (spaces[NS_PID].fd >= 0) run_in_child(argv + i + 1);
  write_pid_file(getpid());
  run_inside(argv + i + 1);
}
