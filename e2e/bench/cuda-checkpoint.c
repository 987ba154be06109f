/* cuda-checkpoint for machines without NVIDIA's: the options that criu's plugin uses, over the same public driver calls,
 * with the output that the plugin reads. One action a process, as with NVIDIA's own. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: cuda-checkpoint --pid PID (--get-state | --get-restore-tid | --toggle | --action lock|checkpoint|restore|unlock)\n"
                            "                       [--timeout MILLISECONDS]\n";

enum { RUNNING, LOCKED, CHECKPOINTED, FAILED };

static void *library;

static void *symbol(const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "cuda-checkpoint: %s\n", dlerror());
        exit(1);
    }
    return found;
}

static void need(int result, const char *what) {
    int (*name)(int, const char **) = symbol("cuGetErrorName");
    const char *said = "?";
    if (result) {
        name(result, &said);
        fprintf(stderr, "cuda-checkpoint: %s: %d %s\n", what, result, said);
        exit(1);
    }
}

static void act(const char *action, int pid, unsigned timeout) {
    static const char *const calls[][2] = {{"lock", "cuCheckpointProcessLock"}, {"checkpoint", "cuCheckpointProcessCheckpoint"},
                                           {"restore", "cuCheckpointProcessRestore"}, {"unlock", "cuCheckpointProcessUnlock"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(action, calls[i][0]) == 0) {
            uint64_t args[8] = {0};
            if (i == 0) {
                memcpy(args, &timeout, sizeof timeout);
            }
            int (*call)(int, void *) = symbol(calls[i][1]);
            need(call(pid, args), calls[i][1]);
            return;
        }
    }
    fputs(usage, stderr);
    exit(2);
}

/* The plugin names the process by one of its threads when it asks for the state. */
static int process_of(int thread) {
    char path[64], line[256];
    int process = thread;
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Tgid: %d", &process);
    }
    if (file) {
        fclose(file);
    }
    return process;
}

static int state_of(int pid) {
    int (*get)(int, int *) = symbol("cuCheckpointProcessGetState"), state = FAILED;
    need(get(pid, &state), "cuCheckpointProcessGetState");
    return state;
}

int main(int argc, char **argv) {
    static const char *const states[] = {"running", "locked", "checkpointed", "failed"};
    const char *action = NULL, *asked = NULL;
    unsigned timeout = 0;
    int pid = 0;
    for (int i = 1; i < argc; i++) {
        int more = i + 1 < argc;
        if (strcmp(argv[i], "--pid") == 0 && more) {
            pid = process_of(atoi(argv[++i]));
        } else if (strcmp(argv[i], "--timeout") == 0 && more) {
            timeout = (unsigned)atoi(argv[++i]);
        } else if (strcmp(argv[i], "--action") == 0 && more) {
            asked = argv[i];
            action = argv[++i];
        } else if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        } else {
            asked = argv[i];
        }
    }
    if (!pid || !asked) {
        fputs(usage, stderr);
        return 2;
    }
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (strcmp(asked, "--get-state") == 0) {
        puts(states[state_of(pid) & 3]);
    } else if (strcmp(asked, "--get-restore-tid") == 0) {
        int (*get)(int, int *) = symbol("cuCheckpointProcessGetRestoreThreadId"), thread = 0;
        need(get(pid, &thread), "cuCheckpointProcessGetRestoreThreadId");
        printf("%d\n", thread);
    } else if (strcmp(asked, "--toggle") == 0) {
        int running = state_of(pid) == RUNNING;
        act(running ? "lock" : "restore", pid, timeout);
        act(running ? "checkpoint" : "unlock", pid, 0);
    } else if (action) {
        act(action, pid, timeout);
    } else {
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}
