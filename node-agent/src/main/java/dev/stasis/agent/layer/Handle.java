package dev.stasis.agent.layer;

import com.sun.jna.Native;
import dev.stasis.agent.process.LibC;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * An open inode. Everything below it is accessed relative to it, so a concurrent rename or link
 * cannot redirect an access to another file. Not thread-safe.
 */
final class Handle implements AutoCloseable {
  private static final LibC LIBC = LibC.INSTANCE;
  private static final byte[] EMPTY = {0};

  /** File systems allow about 4 KiB (ext4) to 64 KiB; some allow any number of attributes. */
  private static final int MOST_ATTRIBUTE_BYTES = 512 << 10;

  /** Resolution below the folder, on the same mount, through no link of any kind. */
  private static final int CONFINED =
      LibC.RESOLVE_BENEATH
          | LibC.RESOLVE_NO_SYMLINKS
          | LibC.RESOLVE_NO_MAGICLINKS
          | LibC.RESOLVE_NO_XDEV;

  /** As {@code statfs} numbers them: ext4, XFS, Btrfs. */
  private static final Set<Long> TIMED_FILE_SYSTEMS = Set.of(0xEF53L, 0x58465342L, 0x9123683EL);

  private final int fd;
  private final String name;

  private Handle(int fd, String name) {
    this.fd = fd;
    this.name = name;
  }

  /** Opens a folder by a path that the caller trusts, such as {@code /proc/PID/root}. */
  static Handle ofTrusted(Path folder) throws IOException {
    String path = MountTargets.bytes(folder.toString());
    return new Handle(
        checked(LIBC.open(z(path), LibC.O_DIRECTORY | LibC.O_CLOEXEC), "open", path), path);
  }

  /** Opens an inode below this folder, not for reading: for querying, changing and linking. */
  Handle at(String path) throws IOException {
    return openat2(path, LibC.O_PATH | LibC.O_NOFOLLOW, 0, CONFINED);
  }

  /** Opens a folder below this one, as {@link #at}, for listing. */
  Handle folder(String path) throws IOException {
    return openat2(path, LibC.O_DIRECTORY | LibC.O_NOFOLLOW, 0, CONFINED);
  }

  /**
   * Opens a folder of a container by its absolute path inside it: mounts and links are followed
   * within the container.
   */
  Handle folderInRoot(String path) throws IOException {
    return openat2(path, LibC.O_DIRECTORY, 0, LibC.RESOLVE_IN_ROOT | LibC.RESOLVE_NO_MAGICLINKS);
  }

  /**
   * Same as {@link #folderInRoot} for any file type, and the last name is not followed: only for
   * querying.
   */
  Handle inRoot(String path) throws IOException {
    return openat2(
        path, LibC.O_PATH | LibC.O_NOFOLLOW, 0, LibC.RESOLVE_IN_ROOT | LibC.RESOLVE_NO_MAGICLINKS);
  }

  /** Opens a file below this folder for reading, as {@link #forReading}. */
  Handle file(String path) throws IOException {
    try (Handle inode = at(path)) {
      return inode.forReading();
    }
  }

  /** Creates a file that no other user can read yet. */
  Handle createFile(String child) throws IOException {
    int flags = LibC.O_WRONLY | LibC.O_CREAT | LibC.O_EXCL | LibC.O_NOFOLLOW;
    return openat2(child, flags, 0600, CONFINED);
  }

  private Handle openat2(String path, int flags, int mode, int resolve) throws IOException {
    ByteBuffer how = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
    how.putLong(flags | LibC.O_CLOEXEC).putLong(mode).putLong(resolve);
    long result = -1;
    // EAGAIN means that a name was changed concurrently; a few retries are enough unless that is
    // intentional.
    for (int tries = 0; tries < 16 && result < 0; tries++) {
      result = LIBC.syscall(LibC.SYS_OPENAT2, (long) fd, z(path), how.array(), 24L);
      if (result < 0 && Native.getLastError() != LibC.EAGAIN) {
        break;
      }
    }
    return new Handle(checked((int) result, "open", path), path);
  }

  /** Opens a channel for this inode, which must be a file. */
  FileChannel channel(OpenOption... options) throws IOException {
    requireFile();
    return FileChannel.open(Path.of(self()), options);
  }

  /** Opens this inode for reading; it must be a file. */
  Handle forReading() throws IOException {
    requireFile();
    int flags = LibC.O_NONBLOCK | LibC.O_CLOEXEC;
    return new Handle(checked(LIBC.open(z(self()), flags), "open", name), name);
  }

  /**
   * Opening a FIFO can block forever, and opening a device has an effect on the node. The type of
   * an open inode never changes, so there is no race with a rename.
   */
  private void requireFile() throws IOException {
    Stat.Type type = stat().type();
    if (type != Stat.Type.FILE) {
      throw new IOException("%s: expected a file, got %s".formatted(LinuxError.shown(name), type));
    }
  }

  /**
   * Whether every change of a file here shows in the time of its last change, once its memory was
   * written back: true for ext4, XFS and Btrfs. A tmpfs does not notice stores to memory, and a
   * file system of the network has another machine's clock.
   */
  boolean keepsTimesOfChange() throws IOException {
    byte[] struct = new byte[256];
    checked(LIBC.fstatfs(fd, struct), "query the file system of", name);
    return TIMED_FILE_SYSTEMS.contains(
        ByteBuffer.wrap(struct).order(ByteOrder.nativeOrder()).getLong());
  }

  Stat stat() throws IOException {
    byte[] struct = new byte[Stat.STRUCT_SIZE];
    checked(
        LIBC.statx(fd, EMPTY, LibC.AT_EMPTY_PATH, LibC.STATX_BASIC_STATS, struct), "stat", name);
    return Stat.of(struct);
  }

  /**
   * Fills a buffer with the next entries of this folder; returns the number of bytes, 0 at the end.
   */
  long list(byte[] buffer) throws IOException {
    return checked(LIBC.getdents64(fd, buffer, buffer.length), "list", name);
  }

  /** Restarts the listing of this folder. */
  void rewind() throws IOException {
    checked(LIBC.lseek(fd, 0, LibC.SEEK_SET), "list", name);
  }

  String linkTarget() throws IOException {
    byte[] buffer = new byte[4096];
    int length = (int) checked(LIBC.readlinkat(fd, EMPTY, buffer, buffer.length), "read", name);
    return new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
  }

  /** Returns where the next data or hole begins; {@code size} if there is none after the offset. */
  long seek(long offset, boolean data, long size) throws IOException {
    long found = LIBC.lseek(fd, offset, data ? LibC.SEEK_DATA : LibC.SEEK_HOLE);
    if (found < 0 && Native.getLastError() == LibC.ENXIO) {
      return size;
    }
    return Math.min(size, checked(found, "seek", name));
  }

  Map<String, byte[]> attributes() throws IOException {
    // Most inodes have none, which the length alone shows.
    long room = LIBC.listxattr(z(self()), EMPTY, 0);
    if (room == 0 || (room < 0 && Native.getLastError() == LibC.ENOTSUP)) {
      return Map.of();
    }
    byte[] names = new byte[(int) checked(room, "list attributes of", name)];
    long length =
        checked(LIBC.listxattr(z(self()), names, names.length), "list attributes of", name);
    Map<String, byte[]> attributes = new TreeMap<>();
    long bytes = 0;
    String list = new String(names, 0, (int) length, StandardCharsets.ISO_8859_1);
    for (String attribute : list.split("\0")) {
      if (!attribute.isEmpty()) {
        byte[] value = new byte[1 << 16];
        long size = LIBC.getxattr(z(self()), z(attribute), value, value.length);
        if (size >= 0 || Native.getLastError() != LibC.ENODATA) {
          checked(size, "read attribute " + attribute + " of", name);
          bytes += size + attribute.length();
          if (bytes > MOST_ATTRIBUTE_BYTES) {
            throw new IOException(
                "%s: expected at most %d bytes of extended attributes, got more"
                    .formatted(LinuxError.shown(name), MOST_ATTRIBUTE_BYTES));
          }
          attributes.put(attribute, Arrays.copyOf(value, (int) size));
        }
      }
    }
    return attributes;
  }

  void setAttribute(String attribute, byte[] value) throws IOException {
    checked(
        LIBC.setxattr(z(self()), z(attribute), value, value.length, 0),
        "set attribute " + attribute + " of",
        name);
  }

  void removeAttribute(String attribute) throws IOException {
    checked(
        LIBC.removexattr(z(self()), z(attribute)), "remove attribute " + attribute + " of", name);
  }

  void setOwner(int uid, int gid) throws IOException {
    checked(LIBC.fchownat(fd, EMPTY, uid, gid, LibC.AT_EMPTY_PATH), "set the owner of", name);
  }

  void setMode(int mode) throws IOException {
    checked(LIBC.chmod(z(self()), mode), "set the mode of", name);
  }

  /** Sets the length of a file; a new part is a hole. */
  void setSize(long size) throws IOException {
    checked(LIBC.ftruncate(fd, size), "set the size of", name);
  }

  /** Sets the time of the last change; the time of the last access becomes the same. */
  void setModified(long seconds, int nanos) throws IOException {
    long[] times = {seconds, nanos, seconds, nanos};
    checked(LIBC.utimensat(LibC.AT_FDCWD, z(self()), times, 0), "set the time of", name);
  }

  void createFolder(String child) throws IOException {
    checked(LIBC.mkdirat(fd, z(child), 0700), "make folder", child);
  }

  void createSymlink(String child, String target) throws IOException {
    checked(LIBC.symlinkat(z(target), fd, z(child)), "make link", child);
  }

  /** Adds a name in this folder for another inode of the same file system. */
  void createLink(String child, Handle inode) throws IOException {
    checked(
        LIBC.linkat(LibC.AT_FDCWD, z(inode.self()), fd, z(child), LibC.AT_SYMLINK_FOLLOW),
        "make link",
        child);
  }

  void createSpecial(String child, Stat.Type type, int major, int minor) throws IOException {
    int format =
        switch (type) {
          case FIFO -> 0010000;
          case CHARACTER_DEVICE -> 0020000;
          case BLOCK_DEVICE -> 0060000;
          default ->
              throw new IllegalArgumentException(
                  "special file: expected a FIFO or a device, got " + type);
        };
    long device =
        (minor & 0xffL)
            | ((major & 0xfffL) << 8)
            | ((minor & ~0xffL) << 12)
            | ((major & ~0xfffL) << 32);
    checked(LIBC.mknodat(fd, z(child), format | 0600, device), "create special file", child);
  }

  void unlink(String child, boolean folder) throws IOException {
    checked(LIBC.unlinkat(fd, z(child), folder ? LibC.AT_REMOVEDIR : 0), "delete", child);
  }

  @Override
  public void close() {
    int unused = LIBC.close(fd);
  }

  /** The kernel's magic link to exactly this inode. */
  private String self() {
    return "/proc/self/fd/" + fd;
  }

  private static byte[] z(String name) {
    return (name + "\0").getBytes(StandardCharsets.ISO_8859_1);
  }

  private static int checked(int result, String call, String name) throws LinuxError {
    return (int) checked((long) result, call, name);
  }

  private static long checked(long result, String call, String name) throws LinuxError {
    if (result < 0) {
      throw new LinuxError(call, name, Native.getLastError());
    }
    return result;
  }
}
