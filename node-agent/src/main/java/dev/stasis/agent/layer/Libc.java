package dev.stasis.agent.layer;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * System calls that Java does not offer: relative to an open folder, with names as bytes, and
 * confined below a folder.
 */
interface Libc extends Library {
  int O_WRONLY = 1;
  int O_CREAT = 0x40;
  int O_EXCL = 0x80;
  int O_NONBLOCK = 0x800;
  int O_CLOEXEC = 0x80000;
  int O_PATH = 0x200000;

  int AT_FDCWD = -100;
  int AT_SYMLINK_NOFOLLOW = 0x100;
  int AT_REMOVEDIR = 0x200;
  int AT_SYMLINK_FOLLOW = 0x400;
  int AT_EMPTY_PATH = 0x1000;

  int RESOLVE_NO_XDEV = 0x01;
  int RESOLVE_NO_MAGICLINKS = 0x02;
  int RESOLVE_NO_SYMLINKS = 0x04;
  int RESOLVE_BENEATH = 0x08;
  int RESOLVE_IN_ROOT = 0x10;

  int SEEK_SET = 0;
  int SEEK_DATA = 3;
  int SEEK_HOLE = 4;

  int ENOENT = 2;
  int ENXIO = 6;
  int EAGAIN = 11;
  int EEXIST = 17;
  int EXDEV = 18;
  int EROFS = 30;
  int ENOTDIR = 20;
  int ENODATA = 61;
  int ENOTSUP = 95;

  /** The same on every architecture. */
  long SYS_OPENAT2 = 437;

  int STATX_BASIC_STATS = 0x7ff;

  long syscall(long number, Object... arguments);

  int open(byte[] path, int flags);

  int close(int fd);

  int ftruncate(int fd, long size);

  int statx(int folder, byte[] path, int flags, int mask, byte[] result);

  int fstatfs(int fd, byte[] result);

  long getdents64(int folder, byte[] buffer, long length);

  long readlinkat(int folder, byte[] path, byte[] buffer, long length);

  long lseek(int fd, long offset, int whence);

  long listxattr(byte[] path, byte[] buffer, long length);

  long getxattr(byte[] path, byte[] name, byte[] buffer, long length);

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

  /** A failed system call: its name, its subject, and the error's number and text. */
  static final class LinuxError extends IOException {
    private static final long serialVersionUID = 1L;

    private final int number;

    LinuxError(String call, String name, int number) {
      super("%s %s: %s".formatted(call, shown(name), Words.of(number)));
      this.number = number;
    }

    int number() {
      return number;
    }

    /** Returns a name of this package in readable form. */
    static String shown(String name) {
      return new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    private interface Words extends com.sun.jna.Library {
      Words LIBC = Native.load("c", Words.class);

      String strerror(int number);

      static String of(int number) {
        return LIBC.strerror(number) + " (" + number + ")";
      }
    }
  }
}
