/* A process that publishes a page and answers at its socket, but not as the library would: liar HOW. */
static void hand_over(int socket, const struct gate_reply *reply, size_t length, const int *fds, uint32_t count) {
    char control[CMSG_SPACE(sizeof(int) * (GATE_BATCH + 1))] = {0};
    struct iovec vector = {(void *)(uintptr_t)reply, length};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (count) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int) * count), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(head), fds, sizeof(int) * count);
    }
    sendmsg(socket, &message, MSG_NOSIGNAL);
}

static int is(const char *how, const char *what) { return strcmp(how, what) == 0; }

static int liar(const char *how) {
    const int32_t prop[8] = {1, 1, 1, 0};
    struct gate_page page = {.magic = GATE_MAGIC, .version = is(how, "version") ? 99 : GATE_VERSION};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct gate_request request;
    uint64_t handle;
    int fd, null = open("/dev/null", O_RDWR), memfd = memfd_create(GATE_MEMFD, 0);
    begin(); /* without the library: the memory is real */
    EXPECT(0, CALL("cuMemCreate", L(&handle), (long)SIZE, L(prop), 0L));
    EXPECT(0, CALL("cuMemExportToShareableHandle", L(&fd), (long)handle, 1L, 0L));
    snprintf(page.name, sizeof page.name, "liar-%d", getpid());
    strcpy(address.sun_path + 1, page.name);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT(0, bind(listener, (struct sockaddr *)&address, (socklen_t)(sizeof address.sun_family + 1 + strlen(page.name))));
    listen(listener, is(how, "deaf") ? 0 : 4);
    for (int full = !is(how, "deaf"); !full;) { /* until a connection would have to wait */
        int knock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
        full = connect(knock, (struct sockaddr *)&address, (socklen_t)(sizeof address.sun_family + 1 + strlen(page.name)));
    }
    EXPECT(sizeof page, write(memfd, &page, sizeof page));
    say("ready");
    while (is(how, "deaf")) pause();
    for (;;) {
        int socket = accept(listener, NULL, NULL);
        while (recv(socket, &request, sizeof request, 0) == sizeof request) {
            struct gate_reply reply = {.magic = GATE_MAGIC, .command = request.command, .state = GATE_CLOSED, .blocks = 1};
            int fds[GATE_BATCH + 1];
            uint32_t count = 0;
            size_t length = GATE_REPLY_HEAD;
            for (int i = 0; i <= GATE_BATCH; i++) fds[i] = fd;
            if (is(how, "answer")) reply.answer[3] = 1;
            if (request.command == GATE_RELOAD) reply.state = GATE_UNLOADED;
            if (request.command == GATE_EXPORT || request.command == GATE_RELOAD) {
                count = reply.count = 1;
                reply.entry[0] = (struct gate_entry){.block = 0, .address = 0x0d0000200000, .bytes = SIZE};
                CALL("cuDeviceGetUuid_v2", L(reply.entry[0].uuid), (long)is(how, "neighbor"));
                if (is(how, "size")) reply.entry[0].bytes = 64ul << 20;
                if (is(how, "no-size")) reply.entry[0].bytes = 0;
                if (is(how, "odd-size")) reply.entry[0].bytes = SIZE + 1;
                if (is(how, "wrap")) reply.entry[0].address = UINT64_MAX - SIZE + 1;
                if (is(how, "gpu")) reply.entry[0].uuid[0] ^= 1;
                if (is(how, "block")) reply.entry[0].block = 1u << 31;
                if (is(how, "fd")) fds[0] = null;
                if (is(how, "no-fd")) count = 0;
                if (is(how, "endless")) reply.next = 5;
                if (is(how, "nothing")) reply.next = (uint32_t)request.value + 1;
                if (is(how, "nothing")) count = reply.count = 0;
                if (is(how, "count")) reply.count = GATE_BATCH + 1;
                if (is(how, "twice") || is(how, "overlap")) {
                    count = reply.count = 2;
                    reply.entry[1] = reply.entry[0];
                    reply.entry[1].block = is(how, "overlap");
                }
                if (is(how, "many-fds")) count = 30;
                length += (size_t)(reply.count > GATE_BATCH ? GATE_BATCH : reply.count) * sizeof reply.entry[0];
            }
            if (is(how, "short") && request.command != GATE_HELLO) length = 7;
            if (is(how, "silent") && request.command == GATE_EXPORT) exit(0);
            if (is(how, "fds") && request.command == GATE_STATUS) count = 3;
            hand_over(socket, &reply, length, fds, count);
        }
        close(socket);
    }
}
