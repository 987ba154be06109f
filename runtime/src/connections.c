/* connections: prints the Unix sockets of a container's network namespace, one per line: INODE
 * PEER TYPE NAMED. */
#include "stasis.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* PEER is 0 if there is none, or the kernel has no inode for it (it is closed, or was not accepted
 * yet). */
static void print_one(const struct nlmsghdr *message) {
  const struct unix_diag_msg *one = NLMSG_DATA(message);
  unsigned peer = 0, named = 0;
  int left = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof *one));
  for (const struct rtattr *at = (const void *)(one + 1); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    if (at->rta_type == UNIX_DIAG_PEER) memcpy(&peer, RTA_DATA(at), sizeof peer);
    if (at->rta_type == UNIX_DIAG_NAME) named = 1;
  }
  printf("%u %u %u %u\n", one->udiag_ino, peer, one->udiag_type, named);
}

int cmd_connections(int argc, char **argv) {
  struct {
    struct nlmsghdr head;
    struct unix_diag_req body;
  } request = {
      {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
      {.sdiag_family = AF_UNIX, .udiag_states = -1U, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER}};
  static union {
    struct nlmsghdr head;
    char bytes[32768];
  } answer;
  enter_namespace(argc, argv, "net", CLONE_NEWNET);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0 || send(fd, &request, sizeof request, 0) < 0) die_errno(EXIT_SELF, "asking for Unix sockets");
  for (;;) {
    ssize_t length = recv(fd, &answer, sizeof answer, 0);
    if (length <= 0) die_errno(EXIT_SELF, "reading the Unix sockets");
    for (const struct nlmsghdr *one = &answer.head; NLMSG_OK(one, length); one = NLMSG_NEXT(one, length)) {
      if (one->nlmsg_type == NLMSG_DONE) return fflush(stdout) ? EXIT_SELF : 0;
      if (one->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *error = NLMSG_DATA(one);
        die(EXIT_SELF, "Unix sockets: the kernel answers error %d", -error->error);
      }
      print_one(one);
    }
  }
}
