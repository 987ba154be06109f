/* Objects of System V and POSIX IPC for odd.c, and what else waits in the kernel to be read. */
#define _GNU_SOURCE
#include "counter.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUE "/dev/mqueue/odd"

/* Those that the last request made; -1 where it made none. */
static int semaphores = -1, messages = -1, segment = -1;

/* Asks for the network interfaces, and leaves the answer unread. */
static int unread_netlink(void) {
    struct {
        struct nlmsghdr head;
        struct rtgenmsg body;
    } request = {{.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}, {AF_UNSPEC}};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return fd < 0 || send(fd, &request, sizeof request, 0) < 0 ? -1 : fd;
}

static int packet_pipe(void) {
    int ends[2];
    return pipe2(ends, O_DIRECT) || close(ends[0]) ? -1 : ends[1];
}

/* An object that outlives its maker: no descriptor, and not attached. */
static int object(int *id, int made) {
    *id = made;
    return made < 0 ? -1 : 0;
}

int ipc_odd(const char *kind) {
    if (strcmp(kind, "queue") == 0) {
        return open(QUEUE, O_CREAT | O_RDWR, 0600);
    }
    return strcmp(kind, "netlink") == 0       ? unread_netlink()
           : strcmp(kind, "packet-pipe") == 0 ? packet_pipe()
                                              : -1;
}

int ipc_object(const char *kind) {
    return strcmp(kind, "sem") == 0   ? object(&semaphores, semget(IPC_PRIVATE, 1, 0600))
           : strcmp(kind, "msg") == 0 ? object(&messages, msgget(IPC_PRIVATE, 0600))
           : strcmp(kind, "shm") == 0 ? object(&segment, shmget(IPC_PRIVATE, 4096, 0600))
                                      : -1;
}

int ipc_attach(const char *unused) {
    (void)unused;
    int id = shmget(IPC_PRIVATE, 4096, 0600);
    return id < 0 || shmat(id, NULL, 0) == (void *)-1 || shmctl(id, IPC_RMID, NULL) ? -1 : 0;
}

void ipc_forget(void) {
    unlink(QUEUE);
    semctl(semaphores, 0, IPC_RMID);
    msgctl(messages, IPC_RMID, NULL);
    shmctl(segment, IPC_RMID, NULL);
    semaphores = messages = segment = -1;
}
