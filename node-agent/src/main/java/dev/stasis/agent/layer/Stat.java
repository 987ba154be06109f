package dev.stasis.agent.layer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The attributes of an inode; {@code changed} is the time of its last change of any kind. */
record Stat(
    Type type,
    int mode,
    int uid,
    int gid,
    long links,
    String inode,
    long size,
    long allocated,
    long seconds,
    int nanos,
    long changedSeconds,
    int changedNanos,
    int major,
    int minor) {

  /** Bytes of {@code struct statx}. */
  static final int STRUCT_SIZE = 256;

  enum Type {
    FILE,
    FOLDER,
    SYMLINK,
    FIFO,
    SOCKET,
    CHARACTER_DEVICE,
    BLOCK_DEVICE
  }

  static Stat of(byte[] struct) {
    ByteBuffer statx = ByteBuffer.wrap(struct).order(ByteOrder.nativeOrder());
    int mode = statx.getShort(28) & 0xffff;
    return new Stat(
        type(mode),
        mode & 07777,
        statx.getInt(20),
        statx.getInt(24),
        statx.getInt(16) & 0xffff_ffffL,
        statx.getInt(136) + ":" + statx.getInt(140) + ":" + statx.getLong(32),
        statx.getLong(40),
        statx.getLong(48) * 512,
        statx.getLong(112),
        statx.getInt(120),
        statx.getLong(96),
        statx.getInt(104),
        statx.getInt(128),
        statx.getInt(132));
  }

  /** The device number by which overlayfs marks a deleted file of the image. */
  boolean isWhiteout() {
    return type == Type.CHARACTER_DEVICE && major == 0 && minor == 0;
  }

  private static Type type(int mode) {
    return switch (mode >> 12) {
      case 01 -> Type.FIFO;
      case 02 -> Type.CHARACTER_DEVICE;
      case 04 -> Type.FOLDER;
      case 06 -> Type.BLOCK_DEVICE;
      case 010 -> Type.FILE;
      case 012 -> Type.SYMLINK;
      case 014 -> Type.SOCKET;
      default -> throw new IllegalStateException("file type: expected a known one, got " + mode);
    };
  }
}
