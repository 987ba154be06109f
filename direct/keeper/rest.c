/*
 * After a checkpoint or a restore, while the workload runs. A context that ends takes its GPU for a moment, and a resumed workload
 * with a long kernel just then would be ended by the driver (docs/compatibility.md): the contexts stay until its processes have
 * ended, the pinned host memory does not.
 */
#include "keeper.h"

#include <sys/syscall.h>

static struct pollfd alive[MAX_WORKLOADS]; /* the processes, until they have ended; those without one at the end */
static pid_t pids[MAX_WORKLOADS];
static unsigned count;
static bool resting, waiting;

static void forget_ended(void) {
    if (poll(alive, count, 0) <= 0) return;
    for (unsigned i = count; i-- > 0;) {
        if (!alive[i].revents) continue;
        close(alive[i].fd);
        alive[i] = alive[--count];
        pids[i] = pids[count];
    }
}

bool rest_until(pid_t pid, uint64_t start, bool waits) {
    forget_ended();
    waiting = waits;
    for (unsigned i = 0; i < count; i++) if (pids[i] == pid) return true;
    int fd = count < MAX_WORKLOADS ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (fd < 0 || link_start_of(pid) != start) { /* another process has this pid now */
        close(fd);
        return fail("process %d has ended", pid);
    }
    alive[count] = (struct pollfd){.fd = fd, .events = POLLIN};
    pids[count++] = pid;
    return true;
}

bool rest_begin(void) {
    forget_ended();
    resting = count > 0;
    if (resting) arena_close(arena), arena = NULL;
    return resting;
}

bool rest_end(void) {
    bool opens = resting;
    resting = false;
    return !opens || arena_open(0); /* one that was left behind is replaced when it is needed: not before a thaw */
}

/* Also with what has arrived for a restore that never comes. */
static bool may_end(void) { return resting || (waiting && agent < 0); }

unsigned rest_of(struct pollfd *wait) {
    memcpy(wait, alive, count * sizeof *alive);
    return may_end() ? count : 0;
}

bool rest_is_over(void) {
    forget_ended();
    return may_end() && !count;
}
