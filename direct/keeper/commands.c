/* What an agent can ask for. A command's line is its words, and its answer is what was added. */
#include "keeper.h"

enum { WORDS = 8 };

struct request {
    struct workload *w; /* NULL for a command without one */
    char *word[WORDS];
};

int agent = -1;
bool ended, hang_up, following;
static uint64_t told_bytes;
static char added[ANSWER_BYTES - 64];

/* Returns true, so that callers can `return add(...)`. */
__attribute__((format(printf, 1, 2))) static bool add(const char *format, ...) {
    size_t length = strlen(added);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(added + length, sizeof added - length, format, arguments);
    va_end(arguments);
    return true;
}

bool add_bytes(uint64_t bytes) { return add(" bytes=%llu", (unsigned long long)bytes); }

static uint64_t number(const char *word) { return strtoull(word, NULL, 10); }

/* What the library says, and whether it is what was asked for. */
static bool told(struct workload *w, uint32_t command, uint64_t value, int timeout_ms) {
    struct gate_reply reply;
    struct gate_page page = {0};
    if (!link_call(w, command, value, timeout_ms, &reply, NULL)) return false;
    if (reply.result) return fail("%s, state %s", result_name(reply.result), state_name(reply.state));
    if (!link_look(w->pid, w->start, &page, NULL)) return false; /* what it allocated until the gate closed is in it */
    uint32_t refused = command == GATE_CLOSE ? reply.notes & NOTES_REFUSED : 0;
    if (refused) {
        link_call(w, GATE_OPEN_UP, 0, timeout_ms, &reply, NULL);
        return fail("refused: %s", note_names(refused));
    }
    return add(" state=%s blocks=%u bytes=%llu largest=%llu gate_us=%llu notes=%s", state_name(reply.state), reply.blocks,
               (unsigned long long)reply.bytes, (unsigned long long)page.largest, (unsigned long long)reply.took_us, note_names(reply.notes));
}

static bool status(const struct request *r) { return told(r->w, GATE_STATUS, snapshot_here(r->w), 5000); }

static bool attach(const struct request *r) {
    struct workload *w = r->w;
    pid_t pid = atoi(r->word[2]);
    uint64_t start = number(r->word[3]);
    rest_until(pid, start, false);
    if (w->count && (w->pid != pid || w->start != start)) return fail("%s holds the memory of process %d; drop it first", w->name, w->pid);
    w->pid = pid;
    w->start = start;
    bool done = link_open(w);
    if (!done && !w->count) *w->name = 0;
    return done && status(r);
}

static bool close_gate(const struct request *r) {
    int timeout = atoi(r->word[2]);
    return told(r->w, GATE_CLOSE, (uint64_t)timeout, timeout + 5000);
}

static bool export(const struct request *r) {
    char because[sizeof failure];
    if (workload_export(r->w)) return add(" blocks=%u", r->w->count) && add_bytes(r->w->bytes);
    memcpy(because, failure, sizeof because);
    if (!r->w->unloaded) workload_drop(r->w); /* what came over is a copy of a descriptor */
    return fail("%s", because);
}

/* All that the library has, here and in the second holder. */
static bool all_held(struct workload *w) {
    struct gate_reply reply;
    uint32_t held = 0;
    if (!link_call(w, GATE_STATUS, 0, 5000, &reply, NULL)) return false;
    if (w->count != reply.blocks) return fail("expected %u blocks, got %u", reply.blocks, w->count);
    for (uint32_t i = 0; i < w->count; i++) if (!w->items[i].kept.mapped || w->items[i].fd < 0) return fail("block %u is not held", w->items[i].block);
    for (const struct workload *each = workloads; each < workloads + MAX_WORKLOADS; each++) {
        for (uint32_t i = 0; i < each->count; i++) held += each->items[i].fd >= 0;
    }
    return holder_has(held);
}

static bool unload(const struct request *r) {
    bool held = all_held(r->w);
    r->w->unloaded |= held; /* even if the answer is an error, some content may now exist only here */
    return held && told(r->w, GATE_UNLOAD, 0, 60000);
}

static bool detach(const struct request *r) { return link_hang_up(r->w), true; }

static bool snapshot(const struct request *r) { return snapshot_make(r->w, number(r->word[2]) << 20); }

static bool forget(const struct request *r) { return snapshot_drop(r->w), true; }

static bool stage(const struct request *r) { return stage_make(r->w, r->word[2]); }

/* A line before the answer, for each 64 MiB. One that does not fit is left out: the next one says more. */
static void saved(uint64_t bytes) {
    char line[32];
    if (bytes < told_bytes + (64 << 20)) return;
    told_bytes = bytes;
    send(agent, line, (size_t)snprintf(line, sizeof line, "at %llu\n", (unsigned long long)bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Only an agent that knows the lines gets them. */
static bool follow(const struct request *r) { return following = r != NULL; }

static bool save(const struct request *r) {
    told_bytes = 0;
    bool done = file_save(r->w, r->word[2], following ? saved : NULL) && add_bytes(r->w->bytes);
    following = false;
    return done;
}

static bool reload(const struct request *r) {
    bool done = workload_reload(r->w, r->word[2]);
    r->w->unloaded &= !done;
    return done;
}

static bool open_gate(const struct request *r) { return told(r->w, GATE_OPEN_UP, snapshot_here(r->w), 5000); }

static bool drop(const struct request *r) {
    workload_drop(r->w);
    link_close(r->w);
    free(r->w->items);
    *r->w = (struct workload){.socket = -1};
    return true;
}

static bool use(const struct request *r) { return cuda_device(NULL, r->word[1], true) >= 0; }

static bool room(const struct request *r) { return room_make(r->word[1], number(r->word[2]), r->word[3]); }

static bool reserve(const struct request *r) { return prefill_reserve(r->word[1], number(r->word[2]) << 20, r->word[3]); }

static bool prefill(const struct request *r) { return prefill_load(r->word[1], 0, UINT64_MAX); }

static bool arrived(const struct request *r) { return prefill_load(r->word[3], number(r->word[1]), number(r->word[2])); }

static bool until(const struct request *r) { return rest_until(atoi(r->word[1]), number(r->word[2]), true); }

static bool list(const struct request *r) {
    add(" arena=%s holder=%s", arena ? "open" : "none", holder >= 0 ? "yes" : "no");
    for (const struct workload *w = workloads; w < workloads + MAX_WORKLOADS; w++) {
        if (!*w->name) continue;
        add(" %s=pid:%d,start:%llu,blocks:%u,bytes:%llu", w->name, w->pid, (unsigned long long)w->start, w->count, (unsigned long long)w->bytes);
    }
    return r != NULL;
}

static bool quit(const struct request *r) {
    for (const struct workload *w = workloads; w < workloads + MAX_WORKLOADS; w++)
        if (*w->name && w->count) return fail("the memory of %s is held; drop it first", w->name);
    rooms_close();
    prefills_close();
    return ended = r != NULL;
}

static bool rest(const struct request *r) {
    if (!quit(r)) return false;
    ended = !rest_begin();
    return hang_up = true;
}

static const struct command {
    const char *name;
    int words; /* with its own; more are an option */
    int path;  /* which word is the rest of the line, since it may have blanks */
    bool (*run)(const struct request *r);
    bool alone; /* without a workload */
} commands[] = {
    {"attach", 4, 0, attach, false},   {"status", 2, 0, status, false}, {"close", 3, 0, close_gate, false}, {"export", 2, 0, export, false},
    {"unload", 2, 0, unload, false},   {"detach", 2, 0, detach, false}, {"snapshot", 3, 0, snapshot, false}, {"forget", 2, 0, forget, false},
    {"stage", 3, 2, stage, false},     {"save", 3, 2, save, false},     {"reload", 2, 2, reload, false},    {"open", 2, 0, open_gate, false},
    {"drop", 2, 0, drop, false},       {"use", 2, 0, use, true},        {"room", 4, 3, room, true},             {"reserve", 4, 3, reserve, true},
    {"prefill", 2, 1, prefill, true},  {"follow", 1, 0, follow, true},  {"list", 1, 0, list, true},            {"rest", 1, 0, rest, true},
    {"arrived", 4, 3, arrived, true},  {"until", 3, 0, until, true},    {"quit", 1, 0, quit, true},
};

static bool run(char *line) {
    char *rest;
    struct request r = {.word = {strtok_r(line, " \n", &rest)}};
    const struct command *command = commands, *end = commands + sizeof commands / sizeof *commands;
    const char *name = r.word[0] ? r.word[0] : "";
    int words = 1;
    while (command < end && strcmp(command->name, name) != 0) command++;
    if (command == end) return fail("unknown command '%s'", name);
    while (words < WORDS && (r.word[words] = strtok_r(NULL, words == command->path ? "\n" : " \n", &rest))) words++;
    if (words < command->words) return fail("%s: expected %d words, got %d", command->name, command->words, words);
    if (command->run != list && !rest_end()) return false;
    r.w = command->alone ? NULL : workload_named(r.word[1], command->run == attach);
    return (command->alone || r.w) && command->run(&r);
}

const char *obey(char *line) {
    static char answer[ANSWER_BYTES];
    uint64_t start = now_us();
    *added = 0;
    strcpy(failure, "unknown reason");
    if (run(line)) snprintf(answer, sizeof answer, "ok us=%llu%s\n", (unsigned long long)(now_us() - start), added);
    else snprintf(answer, sizeof answer, "fail %s\n", failure);
    return answer;
}
