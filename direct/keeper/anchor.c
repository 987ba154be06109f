/*
 * Keeps the driver in use. While the first process of a GPU initializes the driver, every GPU of the node has to switch contexts; a
 * process that was resumed from a checkpoint cannot be switched away from in the middle of a kernel, and after 4 s the driver ends
 * it (docs/compatibility.md). With this process no other one is the first. It ends some time after the agent has gone.
 */
#include "keeper.h"

#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int anchor_main(const char *path, int grace_ms) {
    prctl(PR_SET_NAME, "stasis-anchor");
    int listener = cuda_open() ? socket_listen(path, SOCK_STREAM) : -1;
    if (listener < 0) {
        fprintf(stderr, "stasis-keeper anchor: %s\n", failure);
        return 1;
    }
    for (int client = -1;;) {
        struct pollfd wait[] = {{.fd = listener, .events = POLLIN}, {.fd = client, .events = POLLIN}};
        int ready = poll(wait, 2, client < 0 ? grace_ms : -1);
        if (ready == 0) return 0; /* The socket stays: another one may listen there by now. */
        char unexpected[64];
        if (wait[1].revents && read(client, unexpected, sizeof unexpected) <= 0) {
            close(client);
            client = -1;
        }
        if (wait[0].revents) client = socket_next(listener, client);
    }
}
