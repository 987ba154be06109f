package dev.stasis.agent.process;

import java.util.HashMap;
import java.util.Map;

/**
 * An io_uring as its {@code fdinfo} shows it.
 *
 * @param inode identifies the ring: each of its descriptors has the same inode
 * @param entries size of the submission queue
 * @param submitted number of operations that the kernel has taken since the ring was created
 * @param busy whether operations are in flight, or the kernel shows no state because it is working
 *     on the ring
 * @param registered whether files, buffers, credentials or busy polling are registered with it
 */
public record IoUring(
    int fd, long inode, long entries, long submitted, boolean busy, boolean registered) {

  /** Target of the link in /proc/PID/fd. */
  public static final String TARGET = "anon_inode:[io_uring]";

  public static IoUring parse(int fd, String fdinfo) {
    Map<String, String> values = new HashMap<>();
    boolean list = false;
    boolean listed = false;
    for (String line : fdinfo.split("\n")) {
      String[] pair = line.split(":", 2);
      if (line.startsWith("PollList:") || line.startsWith("CqOverflowList:")) {
        list = true;
      } else if (list && line.startsWith(" ")) {
        listed = true;
      } else {
        list = false;
      }
      if (pair.length == 2 && !line.startsWith(" ")) {
        values.put(pair[0], pair[1].trim());
      }
    }
    long submitted = number(values, "CachedSqHead");
    boolean untaken = number(values, "SqThread") >= 0 && number(values, "SqTail") != submitted;
    return new IoUring(
        fd,
        number(values, "ino"),
        number(values, "SqMask") + 1,
        submitted,
        !values.containsKey("CqOverflowList")
            || submitted != number(values, "CachedCqTail")
            || untaken
            || listed,
        number(values, "UserFiles") > 0
            || number(values, "UserBufs") > 0
            || values.containsKey("Personalities")
            || !values.getOrDefault("NAPI", "disabled").equals("disabled"));
  }

  private static long number(Map<String, String> values, String key) {
    try {
      return Long.decode(values.getOrDefault(key, "-1"));
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
