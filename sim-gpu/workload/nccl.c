/* libnccl.so.2: nothing but its name in the maps of a process, by which a checkpoint finds who talks to peers. */
__attribute__((visibility("default"))) int ncclGetVersion(int *version) {
    *version = 22703;
    return 0;
}
