/* stasis-keeper: keeps the device memory of workloads outside of them. A line is a command, and so is its answer. */
#include "keeper.h"

static const char usage[] =
    "usage: stasis-keeper serve --socket PATH [--threads 16]\n"
    "       stasis-keeper tell PATH COMMAND ARGUMENT...      one command; prints the answer, exit code 0 when it begins with ok\n"
    "       stasis-keeper look PID START                     what the library of a process says of itself; changes nothing, needs no GPU\n"
    "       stasis-keeper hold PATH                          the second holder, begun by serve\n"
    "       stasis-keeper anchor PATH GRACE_MS               keeps the driver initialized while an agent is connected, and so long after\n"
    "Commands: use GPU_UUID | attach NAME PID START | status NAME | close NAME TIMEOUT_MS | export NAME | unload NAME | detach NAME | follow | list |\n"
    "          snapshot NAME RESERVE_MIB | stage NAME PATH | forget NAME | save NAME PATH | reload NAME [PATH] | open NAME | drop NAME | rest |\n"
    "          room GPU_UUID BYTES PATH | reserve GPU_UUID RESERVE_MIB PATH | prefill PATH | arrived FROM TO PATH | until PID START | quit\n";

__thread char failure[512];

bool fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    return false;
}

/* Returns the exit code that it is given. */
static int complain(int code) {
    fprintf(stderr, "stasis-keeper: %s\n", failure);
    return code;
}

/* The program counts for more than its artifact. */
static bool make_room(void) {
    bool any = false;
    for (struct workload *w = workloads; w < workloads + MAX_WORKLOADS; w++) {
        if (snapshot_in_the_way(w)) {
            fprintf(stderr, "stasis-keeper: process %d needs the device memory of its copy\n", w->pid);
            snapshot_drop(w);
            struct gate_reply reply;
            link_call(w, GATE_STATUS, 0, 5000, &reply, NULL); /* so that it asks no more; a dead one needs no answer */
        }
        any |= snapshot_here(w);
    }
    return any;
}

/* One agent at a time; another one takes its place, since the first is dead or about to be. */
static void serve(int listener) {
    static char line[4096];
    size_t have = 0;
    while (!ended && !rest_is_over()) {
        struct pollfd wait[3 + MAX_WORKLOADS] = {
            {.fd = listener, .events = POLLIN}, {.fd = agent, .events = POLLIN}, {.fd = holder, .events = 0}};
        /* Without a holder nothing is unloaded; it is tried again each second. What a program lacks it says in its page. */
        if (poll(wait, 3 + rest_of(wait + 3), make_room() ? 50 : holder < 0 ? 1000 : -1) < 0) continue;
        if ((wait[2].revents || holder < 0) && !holder_replace()) complain(0);
        if (wait[1].revents) {
            ssize_t n = read(agent, line + have, sizeof line - 1 - have);
            have += n > 0 ? (size_t)n : 0;
            line[have] = 0;
            char *end = strchr(line, '\n');
            if (end) {
                const char *answer = obey(line);
                have = 0;
                n = send(agent, answer, strlen(answer), MSG_NOSIGNAL);
            }
            if (n <= 0 || have == sizeof line - 1 || hang_up) {
                hang_up = false;
                close(agent);
                agent = -1;
            }
        }
        if (wait[0].revents) {
            agent = socket_next(listener, agent);
            following = false;
            have = 0;
        }
    }
}

static int serve_at(const char *path, unsigned threads) {
    prctl(PR_SET_NAME, "stasis-keeper");
    int listener = -1;
    bool ready = holder_start(path) && cuda_open() && copy_start(threads) && holder_recover() && (listener = socket_listen(path, SOCK_STREAM)) >= 0;
    if (ready) serve(listener);
    else complain(1);
    holder_end();
    if (ready) unlink(path);
    /* The process ends with the store's response: nothing may wait for that. */
    for (int i = 0; left_behind && i < MAX_DEVICES; i++) driver.cuDevicePrimaryCtxRelease(i);
    if (left_behind) close(agent), close(holder);
    return !ready;
}

/* One command to a keeper, from a shell. */
static int tell(const char *path, char **words) {
    char answer[ANSWER_BYTES] = "";
    int fd = socket_connect(path, SOCK_STREAM);
    if (fd < 0) return complain(3);
    for (; *words; words++) dprintf(fd, "%s%c", *words, words[1] ? ' ' : '\n');
    FILE *from = fdopen(fd, "r");
    if (from && fgets(answer, sizeof answer, from)) fputs(answer, stdout);
    return strncmp(answer, "ok", 2) == 0 ? 0 : 1;
}

static int look(pid_t pid, uint64_t start) {
    struct gate_page page;
    if (!link_look(pid, start, &page, NULL)) {
        printf("fail %s\n", failure);
        return 1;
    }
    printf("ok state=%s blocks=%u bytes=%llu largest=%llu notes=%s refused=%s\n", state_name(page.state), page.blocks,
           (unsigned long long)page.bytes, (unsigned long long)page.largest, note_names(page.notes), page.notes & NOTES_REFUSED ? "yes" : "no");
    return 0;
}

/* An agent says nothing: it is connected, or gone. */
static bool listen_to(int connection) {
    char unexpected[64];
    return read(connection, unexpected, sizeof unexpected) > 0;
}

/*
 * Keeps the driver in use. While the first process of a GPU initializes the driver, every GPU of the node has to switch contexts; a
 * process that was resumed from a checkpoint cannot be switched away from in the middle of a kernel, and after 4 s the driver ends
 * it (docs/compatibility.md). With this process no other one is the first. It ends some time after the agent has gone.
 */
static int anchor(const char *path, int grace_ms) {
    prctl(PR_SET_NAME, "stasis-anchor");
    int listener = cuda_open() ? socket_listen(path, SOCK_STREAM) : -1;
    if (listener < 0) return complain(1);
    socket_serve(listener, grace_ms, listen_to, NULL);
    return 0; /* The socket stays: another one may listen there by now. */
}

int main(int argc, char **argv) {
    const char *path = NULL;
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (argc > 3 && strcmp(argv[1], "tell") == 0) return tell(argv[2], argv + 3);
    if (argc == 4 && strcmp(argv[1], "look") == 0) return look(atoi(argv[2]), strtoull(argv[3], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "hold") == 0) return holder_main();
    if (argc == 4 && strcmp(argv[1], "anchor") == 0) return anchor(argv[2], atoi(argv[3]));
    for (int i = 2; i + 1 < argc && strcmp(argv[1], "serve") == 0; i += 2) {
        if (strcmp(argv[i], "--socket") == 0) path = argv[i + 1];
        if (strcmp(argv[i], "--threads") == 0) threads = atol(argv[i + 1]);
    }
    bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (!path || strlen(path) > 90 || threads < 1) {
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    return serve_at(path, (unsigned)(threads < 16 ? threads : 16));
}
