/* The real driver: opened by its path, its functions behind the entries, and what it hands out by cuGetProcAddress. */
#include "gate.h"
#include "names.h"

#include <dlfcn.h>
#include <stdlib.h>

extern void *const gate_entry[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *gate_target[ENTRIES]; /* where an entry leads: the driver, or a hook */
static void *real[ENTRIES];
static const char *const names[NAMES] = {NAME_LIST};
static int entries = NAMES;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct driver driver;

static CUresult no_driver(void) { return 100; /* CUDA_ERROR_NO_DEVICE */ }

static CUresult not_there(void) { return 500; /* CUDA_ERROR_NOT_FOUND: a function of a newer driver */ }

/* In the order of the dynamic linker; the last are where NVIDIA's container toolkit and cloud providers put it. */
static void *open_real(void) {
    const char *named = getenv("STASIS_REAL_LIBCUDA");
    void *library = named ? driver_at(named) : NULL;
    library = library ? library : driver_in(getenv("LD_LIBRARY_PATH"));
    return library ? library : driver_in("/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:/lib64:/usr/lib:/usr/local/nvidia/lib64:"
                             "/usr/local/cuda/compat:/usr/lib/wsl/lib");
}

static int entry_of(const char *name) {
    for (int i = 0; i < NAMES; i++) if (strcmp(names[i], name) == 0) return i;
    return -1;
}

extern const struct hook __start_hooks[] __attribute__((visibility("hidden"))), __stop_hooks[] __attribute__((visibility("hidden")));

/* A hook whose function the driver lacks is never called. An old name leads to the function of the new one, where there is one. */
static void hook_all(bool memory) {
    for (const struct hook *hook = __start_hooks; hook < __stop_hooks; hook++) {
        int i = entry_of(hook->name);
        void **function = hook->real;
        if (i < 0 || !real[i] || !(memory || strncmp(hook->name, "cuGetProcAddress", 16) == 0)) continue;
        if (!hook->old || !*function) *function = real[i];
        gate_target[i] = hook->function;
    }
}

/* Our entry for an address of the driver. Of two names of one function, one with a hook comes first. */
static void *entry_for(void *function, const char *symbol) {
    int found = -1;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < entries; i++) if (real[i] == function && (found < 0 || gate_target[i] != function)) found = i;
    if (found < 0) {
        int named = entry_of(symbol);
        bool missed = named >= 0 && gate_target[named] != real[named];
        if (missed || entries == ENTRIES) note(NOTE_UNKNOWN_ENTRY); /* a hook that is missed, or the gate */
        if (entries < ENTRIES) found = entries++;
        if (found >= 0) real[found] = gate_target[found] = function;
    }
    pthread_mutex_unlock(&mutex);
    return found < 0 ? function : gate_entry[found];
}

/* Only those of version 2 have the last argument. */
#define HANDING_OUT(name) \
    HOOK(name, (const char *symbol, void **function, long version, long flags, long status)) { \
        CUresult result = real_##name(symbol, function, version, flags, status); \
        if (result == 0 && function && *function) *function = entry_for(*function, symbol); \
        return result; \
    }
HANDING_OUT(cuGetProcAddress) HANDING_OUT(cuGetProcAddress_ptsz)
HANDING_OUT(cuGetProcAddress_v2) HANDING_OUT(cuGetProcAddress_v2_ptsz)

/*
 * A child starts without anything that the library knew in its parent: the memory and the contexts are the parent's, and any lock
 * may be held by a thread that the child does not have. If the parent had initialized the driver, the driver refuses all calls.
 */
static void in_child(void) {
    gate_after_fork();
    table_after_fork();
    knowledge_after_fork();
    control_after_fork();
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void open_once(void) {
    void *library = open_real();
    for (int i = 0; i < NAMES; i++) {
        real[i] = library ? dlsym(library, names[i]) : NULL;
        gate_target[i] = real[i] ? real[i] : library ? (void *)not_there : (void *)no_driver;
    }
#define GIVE(name, symbol, arguments) driver.name = library ? dlsym(library, symbol) : NULL;
    DRIVER_FUNCTIONS(GIVE)
    const char *off = getenv("STASIS_DIRECT");
    hook_all(driver.cuMemExport && !(off && strcmp(off, "off") == 0));
    pthread_atfork(NULL, NULL, in_child);
}

void driver_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
}
