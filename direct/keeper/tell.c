/* One command to a keeper, from a shell. */
#include "keeper.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int tell(const char *path, char **words) {
    static char text[4096];
    int fd = socket_connect(path, SOCK_STREAM);
    if (fd < 0) {
        fprintf(stderr, "stasis-keeper: %s\n", failure);
        return 3;
    }
    for (; *words; words++) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "", *words);
    strcat(text, "\n");
    if (write(fd, text, strlen(text)) < 0) return 3;
    size_t have = 0;
    for (ssize_t n; have < sizeof text - 1 && (n = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
        have += (size_t)n;
        if (text[have - 1] == '\n') {
            break;
        }
    }
    text[have] = 0;
    fputs(text, stdout);
    return strncmp(text, "ok", 2) == 0 ? 0 : 1;
}
