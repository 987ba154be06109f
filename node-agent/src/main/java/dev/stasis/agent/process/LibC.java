package dev.stasis.agent.process;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;

/**
 * Calls of the C library that Java does not offer: on processes, relative to an open folder with
 * names as bytes, and on mapped memory.
 */
public interface LibC extends Library {

  LibC INSTANCE = Native.load("c", LibC.class);

  int O_WRONLY = 1;
  int O_RDWR = 2;
  int O_CREAT = 0x40;
  int O_EXCL = 0x80;
  int O_NONBLOCK = 0x800;
  int O_DIRECTORY = Platform.isARM() ? 0x4000 : 0x10000;
  int O_NOFOLLOW = Platform.isARM() ? 0x8000 : 0x20000;
  int O_CLOEXEC = 0x80000;
  int O_PATH = 0x200000;

  int AT_FDCWD = -100;
  int AT_REMOVEDIR = 0x200;
  int AT_SYMLINK_FOLLOW = 0x400;
  int AT_EMPTY_PATH = 0x1000;

  int RESOLVE_NO_XDEV = 0x01;
  int RESOLVE_NO_MAGICLINKS = 0x02;
  int RESOLVE_NO_SYMLINKS = 0x04;
  int RESOLVE_BENEATH = 0x08;
  int RESOLVE_IN_ROOT = 0x10;

  int SEEK_SET = 0;
  int SEEK_END = 2;
  int SEEK_DATA = 3;
  int SEEK_HOLE = 4;

  int ENOENT = 2;
  int ESRCH = 3;
  int EINTR = 4;
  int ENXIO = 6;
  int EAGAIN = 11;
  int EEXIST = 17;
  int EXDEV = 18;
  int EINVAL = 22;
  int EROFS = 30;
  int ENODATA = 61;
  int ENOTSUP = 95;

  /** Numbers that are the same on every architecture since Linux 5.3. */
  long SYS_PIDFD_SEND_SIGNAL = 424;

  long SYS_IO_URING_SETUP = 425;

  long SYS_FSCONFIG = 431;

  long SYS_FSPICK = 433;

  long SYS_PIDFD_OPEN = 434;

  long SYS_OPENAT2 = 437;

  int P_PID = 1;
  int WEXITED = 4;
  int WNOWAIT = 0x1000000;
  int SIGINFO_BYTES = 128;

  int STATX_BASIC_STATS = 0x7ff;

  long FSCONFIG_SET_STRING = 1;
  long FSCONFIG_CMD_RECONFIGURE = 7;

  int PROT_READ_WRITE = 3;
  int MAP_SHARED = 1;
  long MAP_FAILED = -1;
  int MADV_HUGEPAGE = 14;
  int MADV_POPULATE_WRITE = 23;

  long syscall(long number, Object... arguments);

  String strerror(int number);

  int setsid();

  int poll(PollFd descriptors, long count, int timeoutMillis);

  int sched_setaffinity(int tid, long size, byte[] mask);

  int open(String path, int flags, Object... mode);

  int open(byte[] path, int flags);

  int close(int fd);

  int dup2(int from, int to);

  int pipe2(int[] ends, int flags);

  int kill(int pid, int signal);

  int waitid(int type, int id, byte[] information, int options);

  int waitpid(int pid, int[] status, int options);

  long pread(int fd, byte[] buffer, long size, long offset);

  long lseek(int fd, long offset, int whence);

  int ftruncate(int fd, long size);

  int fstatfs(int fd, byte[] result);

  int statx(int folder, byte[] path, int flags, int mask, byte[] result);

  long getdents64(int folder, byte[] buffer, long length);

  long readlinkat(int folder, byte[] path, byte[] buffer, long length);

  long getxattr(String path, String name, byte[] value, long size);

  long getxattr(byte[] path, byte[] name, byte[] buffer, long length);

  long listxattr(byte[] path, byte[] buffer, long length);

  int setxattr(byte[] path, byte[] name, byte[] value, long length, int flags);

  int removexattr(byte[] path, byte[] name);

  int mkdirat(int folder, byte[] name, int mode);

  int symlinkat(byte[] target, int folder, byte[] name);

  int linkat(int fromFolder, byte[] from, int toFolder, byte[] name, int flags);

  int mknodat(int folder, byte[] name, int mode, long device);

  int unlinkat(int folder, byte[] name, int flags);

  int fchownat(int folder, byte[] path, int uid, int gid, int flags);

  int chmod(byte[] path, int mode);

  int utimensat(int folder, byte[] path, long[] times, int flags);

  Pointer mmap(Pointer at, long length, int protection, int flags, int fd, long offset);

  int madvise(Pointer at, long length, int advice);

  int munmap(Pointer at, long length);

  /** {@code struct pollfd}. */
  @FieldOrder({"fd", "events", "revents"})
  final class PollFd extends Structure {
    public int fd;
    public short events;
    public short revents;
  }
}
