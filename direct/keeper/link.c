/* The way to the library in a workload. Everything that comes from there is taken for hostile. */
#include "keeper.h"

#include <dirent.h>
#include <sched.h>

/* Field 22 of stat. */
uint64_t link_start_of(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* The page is written by the workload: it says what holds, and is believed in nothing that could harm another one. */
bool link_look(pid_t pid, uint64_t start, struct gate_page *page, int *keep) {
    uint64_t began = link_start_of(pid);
    if (began != start) return fail("process %d started at %llu, expected %llu", pid, (unsigned long long)began, (unsigned long long)start);
    char folder[64], path[400], name[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *fds = opendir(folder);
    bool found = false;
    for (struct dirent *entry; fds && !found && (entry = readdir(fds));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t n = readlink(path, name, sizeof name - 1);
        name[n < 0 ? 0 : n] = 0;
        if (strncmp(name, "/memfd:" GATE_MEMFD, 7 + strlen(GATE_MEMFD)) != 0) continue;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        found = fd >= 0 && pread(fd, page, sizeof *page, 0) == sizeof *page && page->magic == GATE_MAGIC;
        if (found && keep) *keep = fd;
        else close(fd);
    }
    if (fds) closedir(fds);
    page->name[sizeof page->name - 1] = 0;
    if (!found) return fail("process %d has no library of the direct data path, or no GPU context yet", pid);
    return page->version == GATE_VERSION || fail("expected version %d of the library, got %u", GATE_VERSION, page->version);
}

uint32_t link_wanted(const struct workload *w) {
    uint32_t wanted = 0;
    return w->page && pread(w->page, &wanted, sizeof wanted, offsetof(struct gate_page, wanted)) == sizeof wanted ? wanted : w->wanted;
}

/* A socket belongs to the network namespace in which it is made. */
static int connect_in(pid_t pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), theirs = open(path, O_RDONLY | O_CLOEXEC);
    struct stat here, there;
    bool known = own >= 0 && theirs >= 0 && fstat(own, &here) == 0 && fstat(theirs, &there) == 0;
    bool same = known && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
    bool inside = same || (known && setns(theirs, CLONE_NEWNET) == 0);
    int fd = inside ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
    if (inside && !same && setns(own, CLONE_NEWNET)) abort(); /* never stay in a workload's network */
    close(own);
    close(theirs);
    struct sockaddr_un address;
    socklen_t length = abstract_address(&address, name);
    /* 5 s: a process that is stopped accepts nothing, and the connections that were given up fill its queue. */
    const struct timeval limit = {.tv_sec = 5};
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, length) == 0) return fd;
    fail("process %d: cannot reach its library: %s", pid, strerror(errno));
    close(fd);
    return -1;
}

void close_all(int *fds, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) close(fds[i]);
}

/* Without room for descriptors none may come. After a failure the connection is closed. */
static bool exchange(struct workload *w, const struct gate_request *request, int timeout_ms, struct gate_reply *reply, int *fds) {
    struct pollfd wait = {.fd = w->socket, .events = POLLIN};
    int ready = -1, unexpected[GATE_BATCH], *to = fds ? fds : unexpected;
    uint32_t got = 0;
    ssize_t n = 0;
    if (send(w->socket, request, sizeof *request, MSG_NOSIGNAL) == sizeof *request) {
        while ((ready = poll(&wait, 1, timeout_ms)) < 0 && errno == EINTR) continue;
        if (ready > 0) n = socket_receive(w->socket, reply, sizeof *reply, to, GATE_BATCH, &got);
    }
    bool valid = n >= (ssize_t)GATE_REPLY_HEAD && reply->magic == GATE_MAGIC && reply->count <= GATE_BATCH && reply->count == got &&
                 n == (ssize_t)(GATE_REPLY_HEAD + got * sizeof reply->entry[0]) && (fds || !got);
    if (valid) return true;
    close_all(to, got);
    link_close(w);
    return ready == 0 ? fail("the library did not answer within %d ms", timeout_ms) : n == 0 ? fail("the library closed the connection")
                      : fail("the library's answer makes no sense");
}

bool link_call(struct workload *w, uint32_t command, uint64_t value, int timeout_ms, struct gate_reply *reply, int *fds) {
    struct gate_request request = {.magic = GATE_MAGIC, .command = command, .value = value};
    return (w->socket >= 0 || fail("%s: not connected; attach it first", w->name)) && exchange(w, &request, timeout_ms, reply, fds);
}

bool link_open(struct workload *w) {
    struct gate_page page;
    struct gate_reply reply;
    struct gate_request hello = {.magic = GATE_MAGIC, .command = GATE_HELLO};
    link_close(w);
    if (!link_look(w->pid, w->start, &page, &w->page)) return false;
    memcpy(hello.token, page.token, sizeof hello.token);
    w->socket = connect_in(w->pid, page.name);
    /* 5 s: the thread that answers only ever waits for a command; less would fail on an overloaded machine. */
    if (w->socket < 0 || !exchange(w, &hello, 5000, &reply, NULL)) return false;
    /* Another process in the pod may listen at the name, but only the right one knows what stands in its page. */
    if (memcmp(reply.answer, page.answer, sizeof page.answer) == 0) return true;
    link_close(w);
    return fail("process %d: another process answers at its socket", w->pid);
}

/* criu cannot dump a connection to the outside: the library has closed its end too when this returns, or nothing is left to wait for. */
void link_hang_up(struct workload *w) {
    struct pollfd wait = {.fd = w->socket, .events = POLLIN};
    /* 5 s: the thread that closes it only ever waits for a command. */
    if (w->socket >= 0 && shutdown(w->socket, SHUT_WR) == 0) poll(&wait, 1, 5000);
    link_close(w);
}

void link_close(struct workload *w) {
    if (w->socket >= 0) close(w->socket);
    if (w->page) close(w->page);
    w->socket = -1;
    w->page = 0;
}
