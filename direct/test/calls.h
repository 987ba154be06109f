/* What the library does with single calls. */
/* A call that the library has to notice; of sparse arrays the simulated driver has none. */
static int calls(const char *name) {
    uint64_t address;
    int fd;
    begin();
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), (long)SIZE));
    CALL(name, L(&fd), (long)address, (long)SIZE, 1L, 0L);
    say("ready");
    pause();
    return 0;
}

/* Memory that is made before there is a context, and so before the library has a page. */
static int early(void) {
    const int32_t prop[8] = {1, 0, 1, 0};
    uint64_t handle;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT(0, CALL("cuInit", 0L));
    EXPECT(0, CALL("cuMemCreate", L(&handle), (long)SIZE, L(prop), 0L));
    begin();
    say("ready");
    pause();
    return 0;
}

/* Ends what it did not begin, and destroys a stream on which it captures a graph. */
static int captures(const char *go) {
    void *one, *other, *graph;
    begin();
    EXPECT(0, CALL("cuStreamCreate", L(&one), 0L));
    EXPECT(0, CALL("cuStreamCreate", L(&other), 0L));
    EXPECT(401, CALL("cuStreamEndCapture", L(other), L(&graph)));
    EXPECT(0, CALL("cuStreamBeginCapture_v2", L(one), 0L));
    say("ready");
    await_file(go);
    EXPECT(0, CALL("cuStreamDestroy_v2", L(one)));
    EXPECT(0, CALL("cuStreamBeginCapture_v2", L(other), 0L));
    EXPECT(0, CALL("cuStreamEndCapture", L(other), L(&graph)));
    say("good");
    pause();
    return 0;
}

/* Frees memory while a graph is being captured on a stream. */
static int frees(void) {
    uint64_t address;
    void *stream, *graph;
    begin();
    long before = free_bytes();
    EXPECT(0, CALL("cuStreamCreate", L(&stream), 0L));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 4L << 20));
    EXPECT(0, CALL("cuStreamBeginCapture_v2", L(stream), 0L));
    EXPECT(0, CALL("cuMemFree_v2", (long)address));
    EXPECT(1, CALL("cuMemFree_v2", (long)address));
    EXPECT(0, CALL("cuStreamEndCapture", L(stream), L(&graph)));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 4L << 20));
    EXPECT(before - (8L << 20), free_bytes());
    EXPECT(0, CALL("cuMemFree_v2", (long)address));
    EXPECT(before, free_bytes());
    /* It is also freed when there is no room for an allocation. */
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), before));
    EXPECT(0, CALL("cuStreamBeginCapture_v2", L(stream), 0L));
    EXPECT(0, CALL("cuMemFree_v2", (long)address));
    EXPECT(2, CALL("cuMemAlloc_v2", L(&address), before));
    EXPECT(0, CALL("cuStreamEndCapture", L(stream), L(&graph)));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), before));
    return 0;
}

/* Gives back one of two references to its primary context. */
static int releases(const char *go) {
    void *context;
    begin();
    EXPECT(0, CALL("cuDevicePrimaryCtxRetain", L(&context), 0L));
    say("ready");
    await_file(go);
    EXPECT(0, CALL("cuDevicePrimaryCtxRelease_v2", 0L));
    say("good");
    pause();
    return 0;
}

/* Destroys a context of its own. */
static int destroys(const char *go) {
    void *context, *primary;
    begin();
    EXPECT(0, CALL("cuCtxGetCurrent", L(&primary)));
    EXPECT(0, CALL("cuCtxCreate_v2", L(&context), 0L, 0L));
    EXPECT(0, CALL("cuCtxSetCurrent", L(primary)));
    say("ready");
    await_file(go);
    EXPECT(0, CALL("cuCtxDestroy_v2", L(context)));
    say("good");
    pause();
    return 0;
}

static int call_of(const char *version, const char *name, long argument) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, version);
    return CALL(whole, argument);
}

/* Memory that belongs to a context goes with it, as the driver's own would; freed memory is free at once. */
static int contexts(const char *version) {
    void *context;
    uint64_t address;
    size_t pitch;
    begin();
    long before = free_bytes();
    EXPECT(0, CALL("cuMemAllocPitch_v2", L(&address), L(&pitch), 1000L, 3000L, 4L));
    EXPECT(1024, pitch);
    EXPECT(before - (4L << 20), free_bytes());
    EXPECT(0, CALL("cuMemsetD32_v2", (long)(address + pitch * 2999), 5L, 250L));
    EXPECT(5, word_at(address + pitch * 2999 + 996));
    EXPECT(0, CALL("cuMemFree_v2", (long)address));
    EXPECT(before, free_bytes());
    EXPECT(1, CALL("cuMemFree_v2", (long)address));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 4L << 20));
    EXPECT(0, CALL("cuMemFreeAsync", (long)address, 0L));
    EXPECT(before, free_bytes());
    /* The end of what uses the memory is waited for in its own context. */
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 4L << 20));
    EXPECT(0, CALL("cuCtxGetCurrent", L(&context)));
    EXPECT(0, CALL("cuCtxSetCurrent", 0L));
    EXPECT(0, CALL("cuMemFree_v2", (long)address));
    EXPECT(0, CALL("cuCtxSetCurrent", L(context)));
    EXPECT(before, free_bytes());
    EXPECT(0, CALL("cuCtxCreate_v2", L(&context), 0L, 0L));
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 8L << 20));
    EXPECT(0, call_of(version, "cuCtxDestroy", L(context)));
    EXPECT(0, CALL("cuDevicePrimaryCtxRetain", L(&context), 0L));
    EXPECT(0, CALL("cuCtxSetCurrent", L(context)));
    EXPECT(before, free_bytes());
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 8L << 20));
    EXPECT(0, call_of(version, "cuDevicePrimaryCtxRelease", 0L)); /* one of two */
    EXPECT(0, word_at(address) * 0);
    EXPECT(0, call_of(version, "cuDevicePrimaryCtxRelease", 0L));
    begin();
    EXPECT(before, free_bytes());
    EXPECT(0, CALL("cuMemAlloc_v2", L(&address), 8L << 20));
    EXPECT(0, call_of(version, "cuDevicePrimaryCtxReset", 0L));
    begin();
    EXPECT(before, free_bytes());
    return 0;
}
