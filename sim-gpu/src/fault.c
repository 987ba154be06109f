#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const call_names[CALLS] = {"state", "restoreThread", "lock", "checkpoint", "restore", "unlock", "unmap", "create",
                                               "map", "export", "import", "release", "copyHtoD", "copyDtoH", "copyDtoD",
                                               "synchronize"};

static void parse(char *text, struct fault *fault, int *always) {
    static const char *const kinds[] = {"", "hang", "stuck", "error", "failed", "slow", "outofstep", "hold"};
    static const char *const moments[] = {"at=before", "at=populate", "at=middle", "at=after"};
    fault->at = AT_MIDDLE;
    for (char *rest, *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        for (uint32_t i = FAULT_HANG; i <= FAULT_HOLD; i++) {
            fault->kind = strcmp(word, kinds[i]) ? fault->kind : i;
        }
        for (uint32_t i = AT_BEFORE; i <= AT_AFTER; i++) {
            fault->at = strcmp(word, moments[i]) ? fault->at : i;
        }
        *always |= strcmp(word, "always") == 0;
        if (*word >= '0' && *word <= '9') {
            fault->value = atoi(word);
        }
    }
}

static int take(const char *path, struct fault *fault) {
    char text[256];
    int always = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        return 0;
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    struct fault found = {0};
    parse(text, &found, &always);
    if (found.kind == FAULT_NONE || (!always && unlink(path))) {
        return 0;
    }
    *fault = found;
    return 1;
}

void fault_take(const char *folder, enum call call, pid_t pid, struct fault *fault, char *taken) {
    snprintf(taken, FAULT_PATH, "%s/faults/%s.%d", folder, call_names[call], pid);
    if (!take(taken, fault)) {
        snprintf(taken, FAULT_PATH, "%s/faults/%s", folder, call_names[call]);
        take(taken, fault);
    }
}

int fault_show_held(const char *folder, const char *taken) {
    char table[FAULT_PATH], held[FAULT_PATH + 8];
    snprintf(table, sizeof table, "%s/nvidiactl", folder);
    snprintf(held, sizeof held, "%s.held", taken);
    return link(table, held) && errno != EEXIST ? -errno : 0;
}
