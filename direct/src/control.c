/* The control thread: a socket on which the keeper commands, and the dead man's switch. */
#include "gate.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONGEST_CLOSE_MS = 600000, WATCH_MS = 100 };

struct gate_page *page;
static int memfd = -1, listener = -1, keeper = -1, stranger = -1; /* a stranger has yet to show that it knows the token */
static int64_t last_heard;
static int fds[GATE_BATCH];
static struct gate_reply reply;

/* The thread that waits for the GPU, so that the wait can be given up: a kernel may run for hours. */
static uint32_t drain_wanted, drain_done;
static int drain_result;

static void *drain(void *unused) {
    prctl(PR_SET_NAME, "stasis-drain");
    for (;;) {
        uint32_t wanted;
        while ((wanted = __atomic_load_n(&drain_wanted, __ATOMIC_ACQUIRE)) == drain_done) futex_wait(&drain_wanted, wanted, 0);
        contexts_synchronize(&drain_result);
        __atomic_store_n(&drain_done, wanted, __ATOMIC_RELEASE);
        futex_wake(&drain_done);
    }
    return unused;
}

static int wait_for_gpu(int64_t deadline) {
    uint32_t wanted = __atomic_add_fetch(&drain_wanted, 1, __ATOMIC_RELEASE), done;
    futex_wake(&drain_wanted);
    while ((done = __atomic_load_n(&drain_done, __ATOMIC_ACQUIRE)) != wanted) {
        int64_t left = deadline - now_ms();
        if (left <= 0) return GATE_BUSY;
        futex_wait(&drain_done, done, (long)left);
    }
    return drain_result;
}

static int close_gate(uint64_t timeout_ms) {
    int64_t deadline = now_ms() + (int64_t)(timeout_ms < LONGEST_CLOSE_MS ? timeout_ms : LONGEST_CLOSE_MS);
    /* Still waiting for the GPU of a close that was given up. */
    if (__atomic_load_n(&drain_done, __ATOMIC_ACQUIRE) != drain_wanted) return GATE_BUSY;
    for (;;) {
        while (capture_count()) { /* to wait for the GPU would invalidate a graph that is being captured */
            if (now_ms() >= deadline) return GATE_CAPTURING;
            nap_us(1000);
        }
        int rc = gate_close(deadline);
        if (rc) return rc == -ETIMEDOUT ? GATE_BUSY : GATE_NO_BARRIER;
        if (!capture_count()) break;
        gate_open();
    }
    int result = wait_for_gpu(deadline);
    if (result) gate_open();
    return result;
}

static void enter_state(enum gate_state state) { __atomic_store_n(&page->state, state, __ATOMIC_RELEASE); }

static void open_up(void) {
    enter_state(GATE_OPEN);
    gate_open();
}

static int command(const struct gate_request *request) {
    uint32_t state = page->state;
    switch (request->command) {
    case GATE_HELLO: memcpy(reply.answer, page->answer, sizeof reply.answer); return 0;
    case GATE_STATUS: page->copied = request->value == 1; return 0;
    case GATE_CLOSE:
        if (state != GATE_OPEN) return GATE_WRONG_STATE;
        int result = close_gate(request->value);
        if (result == 0) enter_state(GATE_CLOSED);
        return result;
    case GATE_EXPORT:
        if (state != GATE_CLOSED && state != GATE_EXPORTED) return GATE_WRONG_STATE;
        enter_state(GATE_EXPORTED);
        return move_export((uint32_t)request->value, &reply, fds);
    case GATE_UNLOAD:
        if (state != GATE_EXPORTED) return GATE_WRONG_STATE;
        enter_state(GATE_UNLOADED); /* from here on the content may be outside alone */
        return move_unload();
    case GATE_RELOAD:
        if (state != GATE_UNLOADED) return GATE_WRONG_STATE;
        if (!move_away()) {
            enter_state(GATE_LOADED);
            return 0;
        }
        return move_reload(request->value, &reply, fds);
    case GATE_FILLED: /* before the keeper lets go of the batch, so that one of the two always has it */
        if (state != GATE_UNLOADED) return GATE_WRONG_STATE;
        move_filled(BLOCK_HERE);
        return 0;
    case GATE_OPEN_UP:
        if (state == GATE_UNLOADED) return GATE_WRONG_STATE;
        page->copied = request->value == 1;
        open_up();
        return 0;
    default: return GATE_FAILED;
    }
}

static void hang_up(int *socket) {
    if (*socket >= 0) close(*socket);
    *socket = -1;
    page->connected = keeper >= 0;
    if (keeper < 0) page->copied = 0;
}

/* The root of the host, also where it has no name in our user namespace, or ourselves. The token is what protects. */
static bool may_speak(int socket) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == 0 || peer.uid == geteuid() || peer.uid == 65534);
}

/* Not equal to the first difference: how long it takes tells nothing. */
static bool same_token(const uint8_t *token) {
    uint8_t differ = 0;
    for (size_t i = 0; i < sizeof page->token; i++) differ |= token[i] ^ page->token[i];
    return !differ;
}

static void serve(int *socket) {
    struct gate_request request;
    ssize_t n = recv(*socket, &request, sizeof request, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    bool valid = n == (ssize_t)sizeof request && request.magic == GATE_MAGIC;
    if (!valid || (socket == &stranger && (request.command != GATE_HELLO || !same_token(request.token)))) {
        hang_up(socket);
        return;
    }
    if (socket == &stranger) { /* a second keeper: the first one is gone, or was replaced */
        hang_up(&keeper);
        keeper = stranger;
        stranger = -1;
        socket = &keeper;
        page->connected = 1;
    }
    last_heard = now_ms();
    uint64_t start = now_us();
    memset(&reply, 0, GATE_REPLY_HEAD);
    reply.result = command(&request);
    last_heard = now_ms();
    reply.magic = GATE_MAGIC;
    reply.command = request.command;
    reply.state = page->state;
    reply.notes = page->notes;
    reply.bytes = page->bytes;
    reply.blocks = page->blocks;
    reply.took_us = now_us() - start;
    bool sent = message_send(*socket, &reply, GATE_REPLY_HEAD + reply.count * sizeof reply.entry[0], fds, reply.count);
    while (reply.count) close(fds[--reply.count]); /* a child that is forked meanwhile closes the rest */
    if (!sent) hang_up(socket);
}

static void greet(void) {
    int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) return;
    hang_up(&stranger);
    stranger = socket;
    if (!may_speak(socket)) hang_up(&stranger);
}

static void *control(void *unused) {
    prctl(PR_SET_NAME, "stasis-gate");
    for (;;) {
        struct pollfd wait[] = {{.fd = listener, .events = POLLIN}, {.fd = keeper, .events = POLLIN}, {.fd = stranger, .events = POLLIN}};
        poll(wait, 3, gate_is_closed() ? WATCH_MS : -1);
        if (wait[1].revents) serve(&keeper);
        if (wait[2].revents && stranger == wait[2].fd) serve(&stranger);
        if (wait[0].revents) greet();
        /* Before anything was unloaded, silence or a broken connection of the keeper opens the gate. */
        bool alone = keeper < 0 || now_ms() - last_heard > GATE_SILENCE_MS;
        if (alone && gate_is_closed() && page->state < GATE_UNLOADED) open_up();
    }
    return unused;
}

static int random_bytes(void *to, size_t size) { return syscall(SYS_getrandom, to, size, 0) == (long)size ? 0 : -1; }

static int publish(void) {
    uint64_t name[2];
    memfd = (int)syscall(SYS_memfd_create, GATE_MEMFD, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memfd < 0 || ftruncate(memfd, 4096)) return -1;
    struct gate_page *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    if (made == MAP_FAILED || random_bytes(name, sizeof name) || random_bytes(made->token, 16) || random_bytes(made->answer, 16)) return -1;
    snprintf(made->name, sizeof made->name, "stasis-%016llx%08llx", (unsigned long long)name[0], (unsigned long long)name[1] & 0xffffffff);
    struct sockaddr_un address;
    socklen_t length = abstract_address(&address, made->name);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4)) return -1;
    made->version = GATE_VERSION;
    page = made;
    if (getenv("CUDA_INJECTION64_PATH") || getenv("NSYS_PROFILING_SESSION_ID")) note(NOTE_TOOL);
    note(0);
    table_lock();
    table_publish();
    table_unlock();
    __atomic_store_n(&made->magic, GATE_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

static int start_thread(void *(*run)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    int rc = pthread_create(&thread, &attributes, run, NULL);
    pthread_attr_destroy(&attributes);
    return rc;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_once(void) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (publish() || start_thread(drain) || start_thread(control)) {
        fprintf(stderr, "stasis-gate: the direct data path cannot be controlled: %s; checkpoints take the default path\n", strerror(errno));
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void control_start(void) { pthread_once(&once, start_once); }

/* A child has neither the threads nor a right to the sockets. */
void control_after_fork(void) {
    int *const all[] = {&memfd, &listener, &keeper, &stranger};
    for (int i = 0; i < 4; i++) {
        close(*all[i]);
        *all[i] = -1;
    }
    while (reply.count) close(fds[--reply.count]);
    if (page) munmap(page, 4096);
    page = NULL;
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
}
