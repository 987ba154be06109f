/* One command to a keeper, from a shell. */
#include "keeper.h"

#include <stdio.h>
#include <string.h>

int tell(const char *path, char **words) {
    char answer[4096] = "";
    int fd = socket_connect(path, SOCK_STREAM);
    if (fd < 0) {
        fprintf(stderr, "stasis-keeper: %s\n", failure);
        return 3;
    }
    for (; *words; words++) dprintf(fd, "%s%c", *words, words[1] ? ' ' : '\n');
    FILE *from = fdopen(fd, "r");
    if (from && fgets(answer, sizeof answer, from)) fputs(answer, stdout);
    return strncmp(answer, "ok", 2) == 0 ? 0 : 1;
}
