/* A program of a hostile image: leaves files that say which name it ran under. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char path[256], own[240] = "";
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  snprintf(path, sizeof path, "/run/ran-%s", argc < 1 ? "nameless" : slash ? slash + 1 : argv[0]);
  int run = open(path, O_CREAT | O_WRONLY, 0666);
  /* Also beside the program itself: /run is another folder for a process with another root. */
  if (readlink("/proc/self/exe", own, sizeof own - 1) > 0) {
    snprintf(path, sizeof path, "%s.ran", own);
    close(open(path, O_CREAT | O_WRONLY, 0666));
  }
  return run < 0;
}
