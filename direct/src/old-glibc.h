/* Functions that moved into libc.so.6 with a new version: the old version is in every glibc. */
#define OLD(name, version) __asm__(".symver " #name "," #name "@GLIBC_" version)
OLD(dlopen, "2.2.5");
OLD(dlsym, "2.2.5");
OLD(dladdr, "2.2.5");
OLD(pthread_create, "2.2.5");
OLD(pthread_once, "2.2.5");
OLD(pthread_key_create, "2.2.5");
OLD(pthread_setspecific, "2.2.5");
OLD(pthread_sigmask, "2.2.5");
OLD(pthread_attr_setstacksize, "2.2.5");
