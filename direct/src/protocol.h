/* Between the library in a workload and the keeper: messages of a seqpacket socket, and the page that names the socket. */
#ifndef STASIS_GATE_PROTOCOL_H
#define STASIS_GATE_PROTOCOL_H
#include <stddef.h>
#include <stdint.h>

#define GATE_MAGIC 0x31455441u /* "ATE1" */
enum { GATE_VERSION = 1, GATE_BATCH = 32, GATE_SILENCE_MS = 10000 };
#define GATE_MEMFD "stasis-gate"

enum gate_state { GATE_OPEN, GATE_CLOSED, GATE_EXPORTED, GATE_UNLOADED, GATE_LOADED };
enum gate_command { GATE_HELLO = 1, GATE_STATUS, GATE_CLOSE, GATE_EXPORT, GATE_UNLOAD, GATE_RELOAD, GATE_FILLED, GATE_OPEN_UP };

/* What the program did. The first group makes a checkpoint on this path impossible; the second is only reported. */
enum gate_note {
    NOTE_IPC = 1 << 0,          /* cuIpcGetMemHandle, cuIpcOpenMemHandle and the same of events */
    NOTE_EXPORT = 1 << 1,       /* cuMemExportToShareableHandle, of pools too; cuMemGetHandleForAddressRange */
    NOTE_IMPORT = 1 << 2, NOTE_MULTICAST = 1 << 3, NOTE_MANAGED = 1 << 4,
    NOTE_TOOL = 1 << 5,         /* a profiler or sanitizer is injected */
    NOTE_SPARSE = 1 << 6,       /* cuMemMapArrayAsync */
    NOTES_REFUSED = (1 << 8) - 1,
    NOTE_PEER = 1 << 8,         /* peer access between GPUs */
    NOTE_PLAIN = 1 << 9,        /* some large memory is the driver's own: virtual memory failed, or the table is full */
    NOTE_HANDED = 1 << 11,      /* memory was exported to a keeper: the driver checkpoints it, and then cannot restore it */
    NOTE_UNKNOWN_ENTRY = 1 << 10, /* a function was asked for by name that the library has no entry for */
};

/* Results besides the driver's own. */
enum { GATE_WRONG_STATE = -1, GATE_BUSY = -2, GATE_CAPTURING = -3, GATE_NO_BARRIER = -4, GATE_FAILED = -5 };

struct gate_request {
    uint32_t magic, command;
    uint64_t value; /* CLOSE: timeout in ms; EXPORT: first block; RELOAD: window in bytes; STATUS, OPEN_UP: whether a copy is on the GPU */
    uint8_t token[16]; /* HELLO */
};

struct gate_entry {
    uint32_t block;
    int32_t device;
    uint64_t address, bytes;
    uint8_t uuid[16];
};

struct gate_reply {
    uint32_t magic, command;
    int32_t result;
    uint32_t state, notes;
    uint32_t blocks, count; /* in all, and entries that follow; each entry has a descriptor */
    uint32_t next;          /* EXPORT: the first block of the next batch, 0 when this was the last */
    uint64_t bytes, took_us;
    uint8_t answer[16];     /* HELLO */
    struct gate_entry entry[GATE_BATCH];
};
#define GATE_REPLY_HEAD ((size_t)__builtin_offsetof(struct gate_reply, entry))

/* The first bytes of the memfd. Who can read them could trace the process: that is who may command. */
struct gate_page {
    uint32_t magic, version;
    uint32_t state, notes;
    uint64_t unused;
    uint32_t connected, blocks;
    uint64_t bytes;
    uint8_t token[16], answer[16];
    char name[32]; /* of the abstract socket, without the leading zero byte */
    uint64_t largest; /* block; 0 in a library that does not report it */
    uint32_t copied, wanted; /* whether the keeper has a copy on the GPU; how often the program lacked that memory */
};
#endif
