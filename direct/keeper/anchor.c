/*
 * Keeps the driver in use. While the first process of a GPU initializes the driver, every GPU of the node has to switch contexts; a
 * process that was resumed from a checkpoint cannot be switched away from in the middle of a kernel, and after 4 s the driver ends
 * it (docs/compatibility.md). With this process no other one is the first. It ends some time after the agent has gone.
 */
#include "keeper.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* An agent says nothing: it is connected, or gone. */
static bool listen_to(int agent_socket) {
    char unexpected[64];
    return read(agent_socket, unexpected, sizeof unexpected) > 0;
}

static bool always(void) { return true; }

int anchor_main(const char *path, int grace_ms) {
    prctl(PR_SET_NAME, "stasis-anchor");
    int listener = cuda_open() ? socket_listen(path, SOCK_STREAM) : -1;
    if (listener < 0) {
        fprintf(stderr, "stasis-keeper anchor: %s\n", failure);
        return 1;
    }
    socket_serve(listener, grace_ms, grace_ms, listen_to, always);
    return 0; /* The socket stays: another one may listen there by now. */
}
