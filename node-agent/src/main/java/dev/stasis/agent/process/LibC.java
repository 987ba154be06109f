package dev.stasis.agent.process;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;

/** Bindings of the few C library calls that Java does not offer. */
interface LibC extends Library {

  LibC INSTANCE = Native.load("c", LibC.class);

  /** Numbers that are the same on every architecture since Linux 5.3. */
  long SYS_PIDFD_SEND_SIGNAL = 424;

  long SYS_IO_URING_SETUP = 425;

  long SYS_PIDFD_OPEN = 434;

  long syscall(long number, Object... arguments);

  int poll(PollFd descriptors, long count, int timeoutMillis);

  int open(String path, int flags, Object... mode);

  long pread(int fd, byte[] buffer, long size, long offset);

  int close(int fd);

  long getxattr(String path, String name, byte[] value, long size);

  int sched_setaffinity(int tid, long size, byte[] mask);

  /** {@code struct pollfd}. */
  @FieldOrder({"fd", "events", "revents"})
  final class PollFd extends Structure {
    public int fd;
    public short events;
    public short revents;
  }
}
