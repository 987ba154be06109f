/* libnccl.so.2: only its name in the maps of a process, by which a checkpoint detects
 * communication with peers. */
__attribute__((visibility("default"))) int ncclGetVersion(int *version) {
    *version = 22703;
    return 0;
}
