/* A program of a hostile image: leaves a file that says which name it ran under. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char path[256];
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  snprintf(path, sizeof path, "/run/ran-%s", argc < 1 ? "nameless" : slash ? slash + 1 : argv[0]);
  return open(path, O_CREAT | O_WRONLY, 0666) < 0;
}
