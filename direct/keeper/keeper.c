/* stasis-keeper: keeps the device memory of workloads outside of them. A line is a command, and so is its answer. */
#include "keeper.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: stasis-keeper serve --socket PATH [--arena-mib 1024] [--threads 16]\n"
    "       stasis-keeper tell PATH COMMAND ARGUMENT...      one command; prints the answer, exit code 0 when it begins with ok\n"
    "       stasis-keeper look PID START                     what the library of a process says of itself; changes nothing, needs no GPU\n"
    "       stasis-keeper hold PATH                          the second holder, begun by serve\n"
    "       stasis-keeper anchor PATH GRACE_MS               keeps the driver initialized while an agent is connected, and so long after\n"
    "Commands: attach NAME PID START | status NAME | close NAME TIMEOUT_MS | export NAME | unload NAME | detach NAME |\n"
    "          snapshot NAME RESERVE_MIB | stage NAME | forget NAME | save NAME PATH | reload NAME [PATH] | open NAME | drop NAME |\n"
    "          use GPU_UUID | reserve GPU_UUID RESERVE_MIB PATH | prefill PATH | list | rest | quit\n";

__thread char failure[512];
static struct workload workloads[MAX_WORKLOADS];
static bool ended, hang_up;

bool fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    return false;
}

uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static struct workload *find(const char *name, bool make) {
    struct workload *unused = NULL;
    for (int i = 0; i < MAX_WORKLOADS; i++) {
        if (strcmp(workloads[i].name, name) == 0) return &workloads[i];
        unused = unused || *workloads[i].name ? unused : &workloads[i];
    }
    if (!make || !unused || strlen(name) >= NAME_BYTES) {
        fail("no workload '%s'", name);
        return NULL;
    }
    strcpy(unused->name, name);
    unused->socket = -1;
    return unused;
}

static const char *state_name(uint32_t state) {
    static const char *const states[] = {"open", "closed", "exported", "unloaded", "loaded"};
    return state <= GATE_LOADED ? states[state] : "?";
}

/* What the library says, and whether it is what was asked for. */
static bool told(struct workload *w, uint32_t command, uint64_t value, int timeout_ms, char *to, size_t size) {
    struct gate_reply reply;
    if (!link_call(w, command, value, timeout_ms, &reply, NULL)) return false;
    if (reply.result)
        return fail("%s, state %s", result_name(reply.result), state_name(reply.state));
    struct gate_page page = {0};
    if (!link_look(w->pid, w->start, &page, NULL)) return false; /* what it allocated until the gate closed is in it */
    snprintf(to, size, " state=%s blocks=%u bytes=%llu largest=%llu gate_us=%llu notes=%s", state_name(reply.state), reply.blocks,
             (unsigned long long)reply.bytes, (unsigned long long)page.largest, (unsigned long long)reply.took_us, note_names(reply.notes));
    if (command == GATE_CLOSE && reply.notes & NOTES_REFUSED) {
        char because[256];
        snprintf(because, sizeof because, "refused: %s", note_names(reply.notes & NOTES_REFUSED));
        link_call(w, GATE_OPEN_UP, 0, timeout_ms, &reply, NULL);
        return fail("%s", because);
    }
    return true;
}

static bool exported(struct workload *w, char *to, size_t size) {
    bool done = workload_export(w);
    snprintf(to, size, " blocks=%u bytes=%llu", w->count, (unsigned long long)w->bytes);
    if (!done && !w->unloaded) { /* what came over is a copy of a descriptor */
        char because[sizeof failure];
        memcpy(because, failure, sizeof because);
        workload_drop(w);
        fail("%s", because);
    }
    return done;
}

/* All that the library has, here and in the second holder. */
static bool all_held(struct workload *w) {
    struct gate_reply reply;
    uint32_t held = 0;
    if (!link_call(w, GATE_STATUS, 0, 5000, &reply, NULL)) return false;
    if (w->count != reply.blocks) return fail("expected %u blocks, got %u", reply.blocks, w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        if (!w->items[i].kept.mapped || w->items[i].fd < 0) return fail("block %u is not held", w->items[i].block);
    }
    for (const struct workload *each = workloads; each < workloads + MAX_WORKLOADS; each++) {
        for (uint32_t i = 0; i < each->count; i++) held += each->items[i].fd >= 0;
    }
    return holder_has(held);
}

static uint64_t staged_by_others(const struct workload *w) {
    uint64_t end = 0;
    for (const struct workload *other = workloads; other < workloads + MAX_WORKLOADS; other++) {
        for (uint32_t i = 0; other != w && i < other->count; i++) {
            const struct item *item = &other->items[i];
            if (item->arena >= 0 && (uint64_t)item->arena + item->bytes > end) end = (uint64_t)item->arena + item->bytes;
        }
    }
    return end;
}

static bool with_workload(char **word, int words, char *to, size_t size) {
    const char *what = word[0], *argument = words > 2 ? word[2] : NULL;
    struct workload *w = find(word[1], strcmp(what, "attach") == 0);
    uint64_t bytes = 0;
    bool done;
    if (!w) return false;
    if (strcmp(what, "attach") == 0 && words == 4) {
        rest_until(atoi(word[2]));
        done = workload_attach(w, atoi(word[2]), strtoull(word[3], NULL, 10));
        if (!done && !w->count) *w->name = 0;
        return done && told(w, GATE_STATUS, snapshot_here(w), 5000, to, size);
    }
    if (strcmp(what, "status") == 0) return told(w, GATE_STATUS, snapshot_here(w), 5000, to, size);
    if (strcmp(what, "close") == 0 && argument) {
        int timeout = atoi(argument);
        return told(w, GATE_CLOSE, (uint64_t)timeout, timeout + 5000, to, size);
    }
    if (strcmp(what, "export") == 0) return exported(w, to, size);
    if (strcmp(what, "unload") == 0) {
        done = all_held(w);
        w->unloaded |= done; /* from here on the content may be here alone, whatever is answered */
        return done && told(w, GATE_UNLOAD, 0, 60000, to, size);
    }
    if (strcmp(what, "open") == 0) return told(w, GATE_OPEN_UP, snapshot_here(w), 5000, to, size);
    if (strcmp(what, "reload") == 0) {
        done = workload_reload(w, argument, &bytes);
        w->unloaded = w->unloaded && !done;
        snprintf(to, size, " bytes=%llu", (unsigned long long)bytes);
        return done;
    }
    if (strcmp(what, "snapshot") == 0 && argument) return snapshot_make(w, strtoull(argument, NULL, 10) << 20);
    if (strcmp(what, "forget") == 0) {
        snapshot_drop(w);
        return true;
    }
    if (strcmp(what, "stage") == 0) return stage_make(w, staged_by_others(w));
    if (strcmp(what, "save") == 0 && argument) {
        done = file_save(w, argument, &bytes);
        snprintf(to, size, " bytes=%llu", (unsigned long long)bytes);
        return done;
    }
    if (strcmp(what, "detach") == 0) {
        link_hang_up(w);
        return true;
    }
    if (strcmp(what, "drop") == 0) {
        workload_drop(w);
        link_close(w);
        free(w->items);
        *w = (struct workload){.socket = -1};
        return true;
    }
    return fail("unknown command '%s'", what);
}

static bool list(char *to, size_t size) {
    size_t at = (size_t)snprintf(to, size, " arena=%s holder=%s", rest_of(NULL) ? "none" : arena_pages(), holder_socket() >= 0 ? "yes" : "no");
    for (int i = 0; i < MAX_WORKLOADS && at < size; i++) {
        if (*workloads[i].name) {
            at += (size_t)snprintf(to + at, size - at, " %s=pid:%d,start:%llu,blocks:%u,bytes:%llu", workloads[i].name, workloads[i].pid,
                                   (unsigned long long)workloads[i].start, workloads[i].count, (unsigned long long)workloads[i].bytes);
        }
    }
    return true;
}

static bool reserve(char **word, int words, char *to, size_t size) {
    uint64_t bytes = 0;
    bool done = words == 4 ? prefill_reserve(word[1], strtoull(word[2], NULL, 10) << 20, word[3], &bytes) : fail("expected a GPU, MiB and a path");
    snprintf(to, size, " bytes=%llu", (unsigned long long)bytes);
    return done;
}

static int agent = -1;

static bool prefill(const char *path, char *to, size_t size) {
    uint64_t bytes = 0;
    bool done = path ? prefill_load(path, agent, &bytes) : fail("expected a path");
    snprintf(to, size, " bytes=%llu", (unsigned long long)bytes);
    return done;
}

static bool quit(void) {
    for (int i = 0; i < MAX_WORKLOADS; i++) {
        if (*workloads[i].name && workloads[i].count) return fail("the memory of %s is held; drop it first", workloads[i].name);
    }
    ended = true;
    return true;
}

static void obey(char *line, char *to, size_t size) {
    char *word[8] = {0}, *rest, detail[2048] = "";
    int words = 0;
    uint64_t start = now_us();
    /* A path is the rest of its line: it may have blanks. */
    for (char *next = strtok_r(line, " \n", &rest); next && words < 8;) {
        word[words++] = next;
        bool path = (words == 1 && strcmp(word[0], "prefill") == 0) || (words == 3 && strcmp(word[0], "reserve") == 0) ||
                    (words == 2 && (strcmp(word[0], "save") == 0 || strcmp(word[0], "reload") == 0));
        next = strtok_r(NULL, path ? "\n" : " \n", &rest);
    }
    strcpy(failure, "unknown reason");
    bool done = words && strcmp(word[0], "list") == 0 ? list(detail, sizeof detail)
                : !rest_end()                         ? false
                : words && strcmp(word[0], "rest") == 0 ? quit() && (ended = !rest_begin(), hang_up = true)
                : words == 2 && strcmp(word[0], "use") == 0 ? cuda_device_named(word[1]) >= 0
                : words && strcmp(word[0], "quit") == 0 ? quit()
                : words && strcmp(word[0], "reserve") == 0 ? reserve(word, words, detail, sizeof detail)
                : words && strcmp(word[0], "prefill") == 0 ? prefill(word[1], detail, sizeof detail)
                : words > 1                            ? with_workload(word, words, detail, sizeof detail)
                                                       : fail("expected a command and a name");
    if (done) {
        snprintf(to, size, "ok us=%llu%s\n", (unsigned long long)(now_us() - start), detail);
    } else {
        snprintf(to, size, "fail %s\n", failure);
    }
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
    static char line[4096], answer[4096];
    size_t have = 0;
    while (!ended) {
        struct pollfd wait[3 + MAX_WORKLOADS] = {
            {.fd = listener, .events = POLLIN}, {.fd = agent, .events = POLLIN}, {.fd = holder_socket(), .events = 0}};
        /* Without a holder nothing is unloaded; it is tried again each second. What a program lacks it says in its page. */
        if (poll(wait, 3 + rest_of(wait + 3), make_room() ? 50 : holder_socket() < 0 ? 1000 : -1) < 0) continue;
        if (rest_is_over()) return;
        if ((wait[2].revents || holder_socket() < 0) && !holder_replace(workloads)) {
            fprintf(stderr, "stasis-keeper: %s\n", failure);
        }
        if (wait[1].revents) {
            ssize_t n = read(agent, line + have, sizeof line - 1 - have);
            have += n > 0 ? (size_t)n : 0;
            line[have] = 0;
            char *end = strchr(line, '\n');
            if (end) {
                obey(line, answer, sizeof answer);
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
            int next = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (next >= 0) {
                close(agent);
                agent = next;
                have = 0;
            }
        }
    }
}

static int serve_at(const char *path, uint64_t arena_mib, unsigned threads) {
    char holder[128];
    snprintf(holder, sizeof holder, "%s.hold", path);
    prctl(PR_SET_NAME, "stasis-keeper");
    if (!holder_start(holder, true) || !cuda_open() || !arena_open(arena_mib << 20, threads) || !holder_recover(workloads)) {
        fprintf(stderr, "stasis-keeper: %s\n", failure);
        return 1;
    }
    int listener = socket_listen(path, SOCK_STREAM);
    if (listener < 0) {
        fprintf(stderr, "stasis-keeper: %s\n", failure);
        return 1;
    }
    serve(listener);
    unlink(path);
    return 0;
}

static int look(pid_t pid, uint64_t start) {
    struct gate_page page;
    bool done = link_look(pid, start, &page, NULL) && (page.version == GATE_VERSION || fail("expected version %d of the library, got %u", GATE_VERSION, page.version));
    if (done) {
        printf("ok state=%s blocks=%u bytes=%llu largest=%llu notes=%s refused=%s\n", state_name(page.state), page.blocks,
               (unsigned long long)page.bytes, (unsigned long long)page.largest, note_names(page.notes), page.notes & NOTES_REFUSED ? "yes" : "no");
    } else {
        printf("fail %s\n", failure);
    }
    return !done;
}

int main(int argc, char **argv) {
    const char *path = NULL;
    long arena_mib = 1024, threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (argc > 3 && strcmp(argv[1], "tell") == 0) return tell(argv[2], argv + 3);
    if (argc == 4 && strcmp(argv[1], "look") == 0) return look(atoi(argv[2]), strtoull(argv[3], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "hold") == 0) return holder_main(argv[2]);
    if (argc == 4 && strcmp(argv[1], "anchor") == 0) return anchor_main(argv[2], atoi(argv[3]));
    for (int i = 2; i + 1 < argc && strcmp(argv[1], "serve") == 0; i += 2) {
        if (strcmp(argv[i], "--socket") == 0) {
            path = argv[i + 1];
        } else if (strcmp(argv[i], "--arena-mib") == 0) {
            arena_mib = atol(argv[i + 1]);
        } else if (strcmp(argv[i], "--threads") == 0) {
            threads = atol(argv[i + 1]);
        }
    }
    if (!path || strlen(path) > 90 || arena_mib < 0 || threads < 1) {
        fputs(usage, argc > 1 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc > 1 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    return serve_at(path, (uint64_t)arena_mib, (unsigned)(threads < 16 ? threads : 16));
}
