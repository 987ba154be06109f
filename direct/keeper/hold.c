/*
 * The second holder: a process that does nothing but keep the same descriptors, so that the death of the keeper loses no device
 * memory. The next keeper takes them from it. It ends when it holds nothing and nobody is connected.
 */
#include "keeper.h"

#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>

enum op { PUT = 1, DROP, LIST, END, REFUSED }; /* a request END does nothing; the answer says how many there are */

struct held {
    uint32_t op, block;
    char name[NAME_BYTES];
    int32_t pid;
    uint64_t start, address, bytes;
    uint8_t uuid[16];
};

int holder = -1;
static char holder_path[100];

static bool transmit(int socket, const struct held *held, int fd) { return message_send(socket, held, sizeof *held, &fd, fd >= 0); }

/* The length of the message; 0 when the connection is closed. */
static ssize_t take(int socket, struct held *held, int *fd) {
    uint32_t count;
    *fd = -1;
    ssize_t n = socket_receive(socket, held, sizeof *held, fd, 1, &count);
    held->name[NAME_BYTES - 1] = 0;
    return n;
}

/* The holder's own memory; it allocates nothing else. */
static struct {
    struct held held;
    int fd;
} table[MAX_ITEMS];
static uint32_t used;

static void drop(const struct held *which) {
    for (uint32_t i = used; i-- > 0;) {
        if (strcmp(table[i].held.name, which->name) == 0 && (which->block == UINT32_MAX || table[i].held.block == which->block)) {
            close(table[i].fd);
            table[i] = table[--used];
        }
    }
}

/* A descriptor beyond what the process may have is missing, and its message cut off. The answer is sent after it was done. */
static bool serve(int client) {
    struct held held, end = {.op = END};
    int fd;
    ssize_t n = take(client, &held, &fd);
    if (n != sizeof held || (held.op == PUT && fd < 0)) held.op = REFUSED;
    if (held.op == PUT || held.op == DROP) drop(&held); /* a keeper that replaces us puts the same one again */
    if (held.op == PUT && used < MAX_ITEMS) {
        table[used].held = held;
        table[used++].fd = fd;
    } else if (held.op == PUT || held.op == REFUSED) {
        close(fd);
        end.op = REFUSED;
    }
    for (uint32_t i = 0; held.op == LIST && i < used; i++) transmit(client, &table[i].held, table[i].fd);
    end.block = used;
    return n != 0 && transmit(client, &end, -1);
}

/* What the keeper must survive: any end but SIGKILL, a session that ends, a full machine. */
static void be_hard_to_end(void) {
    struct rlimit most = {MAX_ITEMS + 64, MAX_ITEMS + 64};
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    dprintf(fd, "-1000"); /* fails without the right to: it is only one protection of several */
    close(fd);
    setrlimit(RLIMIT_NOFILE, &most);
    const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
}

static bool holds_nothing(void) { return used == 0; }

/* The file of its socket is the keeper's to make and to remove: another holder may have taken its place. */
int holder_main(void) {
    setsid(); /* nothing that ends the keeper's group ends it */
    if (listen(STDIN_FILENO, 4)) return 1;
    prctl(PR_SET_NAME, "stasis-holder");
    be_hard_to_end();
    socket_serve(STDIN_FILENO, 0, serve, holds_nothing);
    return 0;
}

static bool gone(void) {
    close(holder);
    holder = -1;
    return fail("the second holder is gone");
}

/* It finds its socket listening, and the keeper connected: one that starts late cannot take the place of a later one. */
static bool start_new(void) {
    extern char **environ;
    char self[] = "/proc/self/exe", mode[] = "hold";
    char *arguments[] = {self, mode, holder_path, NULL};
    pid_t pid;
    posix_spawn_file_actions_t input;
    int listener = socket_listen(holder_path, SOCK_SEQPACKET);
    if (listener < 0 || (holder = socket_connect(holder_path, SOCK_SEQPACKET)) < 0) return false;
    posix_spawn_file_actions_init(&input);
    posix_spawn_file_actions_adddup2(&input, listener, STDIN_FILENO);
    bool done = posix_spawn(&pid, self, &input, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&input);
    close(listener);
    return done || gone() || fail("the second holder did not start");
}

bool holder_start(const char *path) {
    snprintf(holder_path, sizeof holder_path, "%s.hold", path);
    be_hard_to_end();
    return (holder = socket_connect(holder_path, SOCK_SEQPACKET)) >= 0 || start_new();
}

static bool ask(const struct held *held, struct held *reply) {
    int none;
    return (transmit(holder, held, -1) && take(holder, reply, &none) == sizeof *reply) || gone();
}

static bool put(const struct workload *w, const struct item *item) {
    struct held held = {.op = PUT, .block = item->block, .pid = w->pid, .start = w->start, .address = item->address, .bytes = item->bytes};
    memcpy(held.name, w->name, NAME_BYTES);
    driver.cuDeviceGetUuid(held.uuid, item->device);
    return transmit(holder, &held, item->fd);
}

/* Fewer at once than a socket takes without being read. */
bool holder_put(const struct workload *w, uint32_t first) {
    struct held reply;
    int none;
    for (uint32_t i = first, end; i < w->count; i = end) {
        end = w->count - i < GATE_BATCH ? w->count : i + GATE_BATCH;
        uint32_t asked = 0;
        bool room = true;
        for (uint32_t j = i; j < end; j++) {
            if (w->items[j].fd < 0) continue;
            if (!put(w, &w->items[j])) return gone();
            asked++;
        }
        for (; asked; asked--) {
            if (take(holder, &reply, &none) != sizeof reply) return gone();
            room = room && reply.op == END;
        }
        if (!room) return fail("the second holder has no room for more");
    }
    return true;
}

bool holder_drop(const struct workload *w, uint32_t block) {
    struct held held = {.op = DROP, .block = block}, reply;
    memcpy(held.name, w->name, NAME_BYTES);
    return ask(&held, &reply);
}

bool holder_has(uint32_t count) {
    struct held held = {.op = END}, reply;
    if (!ask(&held, &reply)) return fail("there is no second holder");
    return reply.block >= count || fail("expected %u allocations in the second holder, got %u", count, reply.block);
}

void holder_end(void) {
    struct held held = {.op = END}, reply;
    if (ask(&held, &reply) && !reply.block) unlink(holder_path);
}

bool holder_replace(void) {
    gone();
    if (!start_new()) return false; /* it is tried again */
    for (int i = 0; i < MAX_WORKLOADS; i++) if (*workloads[i].name && !holder_put(&workloads[i], 0)) return false;
    return true;
}

bool holder_recover(void) {
    struct held held = {.op = LIST};
    int fd;
    transmit(holder, &held, -1);
    while (take(holder, &held, &fd) == sizeof held && held.op == PUT) {
        struct workload *w = workload_named(held.name, true);
        if (!w) return false;
        w->pid = held.pid;
        w->start = held.start;
        w->unloaded = true; /* as far as anyone can tell */
        struct gate_entry entry = {.block = held.block, .address = held.address, .bytes = held.bytes};
        if (!workload_add(w, &entry, cuda_device(held.uuid, NULL, true), fd)) return false;
    }
    /* One that ends, since it holds nothing or was killed, takes connections until it is gone. */
    return held.op == END || (held.op == LIST && holder_replace()) || fail("the second holder is gone");
}
