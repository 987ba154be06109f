package dev.stasis.agent.process;

import java.util.OptionalLong;

/**
 * An open file descriptor.
 *
 * @param target target of the link in /proc/PID/fd: a path, {@code pipe:[INODE]}, {@code
 *     socket:[INODE]}, {@code anon_inode:[eventfd]}; that of a deleted file ends in {@code "
 *     (deleted)"}
 * @param flags the open flags, as open(2) takes them
 * @param position the file position in bytes
 * @param mountId the mount that the file belongs to, as in {@link Mount#id}
 */
public record OpenFile(int fd, String target, int flags, long position, int mountId) {

  private static final int O_ACCMODE = 3;

  public boolean isPipe() {
    return target.startsWith("pipe:[");
  }

  /** The inode of a pipe or a socket. */
  public OptionalLong inode() {
    int open = target.indexOf(":[");
    if (target.startsWith("/") || open < 0 || !target.endsWith("]")) {
      return OptionalLong.empty();
    }
    String number = target.substring(open + 2, target.length() - 1);
    return number.chars().allMatch(Character::isDigit) && !number.isEmpty()
        ? OptionalLong.of(Long.parseLong(number))
        : OptionalLong.empty();
  }

  public boolean isReadable() {
    return (flags & O_ACCMODE) != 1;
  }

  public boolean isWritable() {
    return (flags & O_ACCMODE) != 0;
  }

  /** The file has no name any more; only descriptors and mappings keep it. */
  public boolean isDeleted() {
    return target.endsWith(" (deleted)");
  }

  static OpenFile parse(int fd, String target, String fdinfo) {
    long position = 0;
    int flags = 0;
    int mountId = 0;
    for (String line : fdinfo.split("\n")) {
      String[] pair = line.split(":", 2);
      if (pair.length < 2) {
        continue;
      }
      String value = pair[1].trim();
      switch (pair[0]) {
        case "pos" -> position = Long.parseLong(value);
        case "flags" -> flags = Integer.parseUnsignedInt(value, 8);
        case "mnt_id" -> mountId = Integer.parseInt(value);
        default -> {
          // Lines specific to special files (eventfd, epoll, inotify) follow; they are not used
          // here.
        }
      }
    }
    return new OpenFile(fd, target, flags, position, mountId);
  }
}
