/* A separate root for the program: --own-root and --take of "enter". */
#include "enter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Mounts of the container that are attached below the program's own root, each separately. */
static struct taken {
  const char *path, *place;
  int tree;
  bool is_folder;
} takes[MANY];
static int take_count, null_device = -1;

void take_take(char *text) {
  const char *place = half(text, '=', "--take");
  if (*text != '/' || *place != '/') die(2, "--take: expected absolute paths, got %s=%s", text, place);
  if (take_count == MANY) die(2, "--take: at most %d", MANY);
  takes[take_count++] = (struct taken){text, place, -1, false};
}

void own_root_wanted(void) {
  null_device = ours((int)syscall(SYS_open_tree, AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), "/dev/null");
  cut_off(null_device, "", AT_EMPTY_PATH, MS_PRIVATE);
}

bool any_taken(void) { return take_count > 0; }

/* A copy of one mount, without what is mounted below it. */
int copy_of(int at, const char *path) {
  int tree = (int)syscall(SYS_open_tree, at, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
  if (tree < 0) die_errno(EXIT_SELF, "copying the mount %s", path);
  return tree;
}

/* Opens the container's mounts while its root is still the current one; no link of the container
 * is followed. */
void open_takes(void) {
  for (struct taken *t = takes; t < takes + take_count; t++) {
    struct stat st;
    int at = resolved(AT_FDCWD, t->path, 0, 0);
    if (at < 0 || fstat(at, &st)) die_errno(EXIT_SELF, "the container's %s", t->path);
    t->is_folder = S_ISDIR(st.st_mode);
    t->tree = copy_of(at, "");
    close(at);
  }
}

/* Creates an empty folder or file in our own root, with its parent folders. */
void make_place(const char *path, bool folder) {
  char *copy = strdup(path);
  if (!copy) die_errno(EXIT_SELF, "memory");
  for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(copy, 0755) && errno != EEXIST) die_errno(EXIT_SELF, "%s", copy);
    *slash = '/';
  }
  if (folder) {
    if (mkdir(copy, 0755) && errno != EEXIST) die_errno(EXIT_SELF, "%s", copy);
  } else {
    int fd = open(copy, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) die_errno(EXIT_SELF, "%s", copy);
    close(fd);
  }
  free(copy);
}

void attach(int tree, const char *place, bool folder) {
  make_place(place, folder);
  int at = resolved(AT_FDCWD, place, 0, 0);
  unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  if (at < 0 || syscall(SYS_move_mount, tree, "", at, "", flags))
    die_errno(EXIT_SELF, "mounting on %s", place);
  close(at);
}

/* Replaces the container's root by an empty tmpfs. The container's own mount namespace keeps its
 * root: ours is a private copy, from which the old root is detached. */
void enter_own_root(void) {
  int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
  if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "mode", "0755", 0) ||
      syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
    die_errno(EXIT_SELF, "a tmpfs for --own-root");
  unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  int root = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes);
  if (root < 0 || syscall(SYS_move_mount, root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) ||
      fchdir(root) || syscall(SYS_pivot_root, ".", ".") || syscall(SYS_umount2, ".", 2 /* MNT_DETACH */) || chdir("/"))
    die_errno(EXIT_SELF, "--own-root");
  close(fs);
  close(root);
  for (const char **folder = (const char *[]){"/tmp", "/run", NULL}; *folder; folder++)
    make_place(*folder, true);
  attach(null_device, "/dev/null", false);
}

void attach_takes(void) {
  for (struct taken *t = takes; t < takes + take_count; t++) attach(t->tree, t->place, t->is_folder);
}
