package dev.stasis.agent.process;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One process, for as long as the machine is up: the kernel hands out pids again, but not with the
 * same start time.
 *
 * @param pid the pid as this machine's first pid namespace sees it
 * @param startTime clock ticks between boot and the start of the process (stat, field 22)
 */
public record ProcessId(int pid, long startTime) {

  private static final Pattern TEXT = Pattern.compile("([0-9]{1,9})@([0-9]{1,18})");

  public ProcessId {
    if (pid <= 0) {
      throw new IllegalArgumentException("pid: wanted a positive number, found " + pid);
    }
    if (startTime < 0) {
      throw new IllegalArgumentException("startTime: wanted 0 or more, found " + startTime);
    }
  }

  /** Reads back what {@link #toString} wrote. */
  public static ProcessId parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "process: wanted PID@START, for example 4242@99887, found \"" + text + "\"");
    }
    return new ProcessId(Integer.parseInt(matcher.group(1)), Long.parseLong(matcher.group(2)));
  }

  @Override
  public String toString() {
    return pid + "@" + startTime;
  }
}
