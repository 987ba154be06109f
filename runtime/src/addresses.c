/* addresses: prints the addresses of a container's network interfaces, one per line: INTERFACE
 * ADDRESS. */
#include "stasis.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* In the kernel's order, without the loopback, which every network namespace has. */
static void print_addresses(void) {
  struct ifaddrs *all, *one;
  if (getifaddrs(&all)) die_errno(EXIT_SELF, "reading the network interfaces");
  for (one = all; one; one = one->ifa_next) {
    char text[INET6_ADDRSTRLEN];
    const struct sockaddr *address = one->ifa_addr;
    if (!address || one->ifa_flags & IFF_LOOPBACK) continue;
    const void *bytes = address->sa_family == AF_INET    ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                        : address->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                                                         : NULL;
    if (bytes && inet_ntop(address->sa_family, bytes, text, sizeof text)) printf("%s %s\n", one->ifa_name, text);
  }
  freeifaddrs(all);
}

void enter_namespace(int argc, char **argv, const char *type, int flag) {
  uint64_t pid = 0, start = 0, found = 0;
  char path[64], state;
  if (argc != 5 || strcmp(argv[1], "--pid") || !parse_number(argv[2], 10, &pid) || strcmp(argv[3], "--start") ||
      !parse_number(argv[4], 10, &start))
    die(2, "usage: %s --pid PID --start TIME", argv[0]);
  snprintf(path, sizeof path, "/proc/%lu/ns/%s", pid, type);
  int space = open(path, O_RDONLY | O_CLOEXEC);
  if (space < 0) die_errno(EXIT_SELF, "%s", path);
  /* The namespace belongs to the process if it still has the same start time after the open. */
  snprintf(path, sizeof path, "/proc/%lu/stat", pid);
  if (!read_stat(AT_FDCWD, path, &state, &found) || found != start)
    die(EXIT_SELF, "process %lu: expected start time %lu, got %lu", pid, start, found);
  if (setns(space, flag)) die_errno(EXIT_SELF, "entering the %s namespace of process %lu", type, pid);
}

int cmd_addresses(int argc, char **argv) {
  enter_namespace(argc, argv, "net", CLONE_NEWNET);
  print_addresses();
  return fflush(stdout) ? EXIT_SELF : 0;
}
