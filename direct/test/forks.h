/* Processes that the program forks. Once it has initialized the driver, the driver refuses all of their calls. */
enum { REFUSED = 3 };

/* Checks in a child and, with a depth of 2, in a child of that one. The alarm ends one that waits for a lock that no thread holds. */
static void in_forks(void (*check)(void), int depth) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        check();
        if (depth > 1) in_forks(check, depth - 1);
        _exit(0);
    }
    EXPECT(child, waitpid(child, &status, 0));
    EXPECT(0, status);
}

static uint64_t plain, mapped, created;
static void *context;

static void make_memory(void) {
    const int32_t prop[8] = {1, 0, 1, 0}, access[3] = {1, 0, 3};
    EXPECT(0, CALL("cuMemAlloc_v2", L(&plain), (long)SIZE));
    EXPECT(0, CALL("cuMemCreate", L(&created), (long)SIZE, L(prop), 0L));
    EXPECT(0, CALL("cuMemAddressReserve", L(&mapped), (long)SIZE, 0L, 0L, 0L));
    EXPECT(0, CALL("cuMemMap", (long)mapped, (long)SIZE, 0L, (long)created, 0L));
    EXPECT(0, CALL("cuMemSetAccess", (long)mapped, (long)SIZE, L(access), 1L));
    EXPECT(0, CALL("cuMemsetD32_v2", (long)plain, 21L, 1L));
    EXPECT(0, CALL("cuMemsetD32_v2", (long)mapped, 22L, 1L));
}

static void no_memory_is_there(void) {
    uint64_t other;
    EXPECT(REFUSED, CALL("cuMemRetainAllocationHandle", L(&other), (long)mapped));
    EXPECT(REFUSED, CALL("cuMemAlloc_v2", L(&other), (long)SIZE));
    EXPECT(REFUSED, CALL("cuMemFree_v2", (long)plain));
    EXPECT(REFUSED, CALL("cuMemRelease", (long)created));
    CALL("cuStreamEndCapture", 0L, L(&other)); /* refused as well, but the simulated driver has its own reason */
}

static int fork_memory(void) {
    begin();
    make_memory();
    in_forks(no_memory_is_there, 2);
    EXPECT(21, word_at(plain));
    EXPECT(22, word_at(mapped));
    EXPECT(0, CALL("cuMemFree_v2", (long)plain));
    EXPECT(0, CALL("cuMemRelease", (long)created));
    return 0;
}

static void *allocates(void *unused) {
    uint64_t other;
    EXPECT(0, CALL("cuCtxSetCurrent", L(context)));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&other), (long)SIZE));
    return unused;
}

/* Another thread is in the middle of an allocation, and holds the lock of the library's table. */
static int fork_locked(void) {
    char fault[4096], held[sizeof fault + 8];
    pthread_t thread;
    begin();
    make_memory();
    EXPECT(0, CALL("cuCtxGetCurrent", L(&context)));
    snprintf(fault, sizeof fault, "%s/faults/map.%d", getenv("STASIS_SIM_GPU"), getpid());
    snprintf(held, sizeof held, "%s.held", fault);
    FILE *file = fopen(fault, "w");
    fputs("hold\n", file);
    fclose(file);
    pthread_create(&thread, NULL, allocates, NULL);
    await_file(held);
    in_forks(no_memory_is_there, 2);
    unlink(held);
    pthread_join(thread, NULL);
    return 0;
}

static void no_context_is_destroyed(void) { EXPECT(REFUSED, CALL("cuCtxDestroy_v2", L(context))); }

static int fork_waiting(const char *go) {
    begin();
    EXPECT(0, CALL("cuCtxCreate_v2", L(&context), 0L, 0L));
    say("ready");
    await_file(go);
    in_forks(no_context_is_destroyed, 2);
    say("good");
    pause();
    return 0;
}

static int gpu_descriptors(void) {
    char path[300], name[512];
    int count = 0;
    DIR *fds = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(fds));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t n = readlink(path, name, sizeof name - 1);
        name[n < 0 ? 0 : n] = 0;
        count += strstr(name, "/nvidiactl") != NULL;
    }
    closedir(fds);
    return count;
}

static int descriptors;

static void no_more_descriptors(void) { EXPECT(descriptors, gpu_descriptors()); }

static int fork_exporting(const char *go) {
    begin();
    make_memory();
    descriptors = gpu_descriptors();
    say("ready");
    await_file(go);
    EXPECT(descriptors + 1, gpu_descriptors());
    in_forks(no_more_descriptors, 2);
    say("good");
    pause();
    return 0;
}

/* Loads the library, and becomes a workload in a child of a child, as a daemon does. */
static int fork_first(const char *go) {
    int version;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT(0, CALL("cuDriverGetVersion", L(&version)));
    for (int i = 0; i < 2; i++) {
        if (fork()) pause();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    begin();
    make_memory();
    printf("worker %d\n", getpid());
    say("ready");
    await_file(go);
    EXPECT(21, word_at(plain));
    EXPECT(22, word_at(mapped));
    in_forks(no_memory_is_there, 2);
    say("good");
    pause();
    return 0;
}
