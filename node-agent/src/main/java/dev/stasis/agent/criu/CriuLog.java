package dev.stasis.agent.criu;

import static dev.stasis.agent.criu.CriuFault.Kind;

import dev.stasis.agent.process.LogTail;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the line in criu's log that explains a failure. */
public final class CriuLog {

  private static final Pattern LINE =
      Pattern.compile("(?:\\([0-9.]+\\) *)?(?: *[0-9]+: )?(Error|Warn ) \\(([^)]*)\\): (.*)");

  /** Printed in successful runs too, on nodes without these devices and rights. */
  private static final List<Pattern> HARMLESS =
      List.of(
          Pattern.compile("tun: Unable to create tun.*"),
          Pattern.compile("rlimit: Can't setup RLIMIT_NOFILE for self.*"),
          Pattern.compile(".*exited, status=1$"));

  private static final List<Rule> RULES =
      List.of(
          rule(Kind.NO_SPACE, "(.*): No space left on device.*"),
          rule(Kind.NO_MEMORY, "(.*): Cannot allocate memory.*"),
          rule(
              Kind.UNSUPPORTED_FILE, "Can't dump file [0-9]+ of that type \\[[0-7]+\\] \\((.*)\\)"),
          rule(Kind.UNSUPPORTED_FILE, "(?:uring: )?Can't dump (io_uring .*)"),
          rule(Kind.UNSUPPORTED_FILE, "(handle_device_vma plugin failed.*)"),
          rule(Kind.UNSUPPORTED_FILE, ".*[Uu]nsupported (?:anon|file|fd).*?(\\[.*\\]|/\\S+).*"),
          rule(Kind.UNSUPPORTED_FILE, "Unknown shit.*?(\\S+)"),
          rule(Kind.DELETED_FILE_TOO_LARGE, "Can't dump ghost file (.*) of [0-9]+ size.*"),
          rule(Kind.LEFT_OVER_LINK, "Can't link remap to (.*): File exists"),
          rule(Kind.FILE_CHANGED, "File (.*) has bad (?:size|mode|build-ID).*"),
          rule(
              Kind.FILE_MISSING,
              "Can't open file (.*?)(?: on restore)?: No such file or directory"),
          rule(Kind.FILE_MISSING, "Can't link (?:.*) -> (.*): No such file or directory"),
          rule(Kind.MOUNT_UNKNOWN, "(?:mnt: )?No mapping for [0-9]+:(.*) mountpoint"),
          rule(Kind.MOUNT_UNKNOWN, "(?:mnt: )?[0-9]+:(.*) doesn't have a proper root mount"),
          rule(Kind.MOUNT_UNKNOWN, "(?:mnt: )?Mount [0-9]+:(.*) is autodetected external mount.*"),
          rule(Kind.MOUNT_UNKNOWN, "(?:mnt: )?FS mnt (\\S+) dev .* unsupported id .*"),
          rule(
              Kind.MOUNT_FAILED,
              "(?:mnt(?:-v2)?: )?(?:Failed to open_tree|Can't stat mountpoint) (.*?):.*"),
          rule(
              Kind.MOUNT_FAILED,
              "(?:mnt(?:-v2)?: )?(?:Unable to mount|Can't mount at) (.*?)(?::.*)?"),
          rule(Kind.OUTSIDE_SOCKET, ".*Can't dump half of stream unix connection. name: (.*)"),
          rule(Kind.OUTSIDE_SOCKET, ".*External socket is used.*(inode .*)"),
          rule(Kind.OUTSIDE_SESSION, "A session leader of (.*) is outside of its pid namespace"),
          rule(Kind.OUTSIDE_SESSION, "(?:tty: )?Found dangling tty with (sid [0-9]+).*"),
          rule(Kind.OUTSIDE_SHARED_MEMORY, "Task ([0-9]+) with SysVIPC shmem map.*"),
          rule(Kind.PID_TAKEN, "Can't fork for ([0-9]+): File exists"),
          rule(Kind.PID_TAKEN, "Pid ([0-9]+) do not match expected [0-9]+.*"),
          rule(Kind.PID_TAKEN, "(?:pie: [0-9]+: )?Unable to create a thread: (-17).*"),
          rule(Kind.SEIZE_TIMEOUT, "(Timeout reached.*)"),
          rule(Kind.SEIZE_TIMEOUT, "(Unable to freeze cgroup .*)"),
          rule(Kind.NOT_SEIZED, "(?:seize: )?SEIZE ([0-9]+): .*"),
          rule(
              Kind.NOT_SEIZED,
              "(?:seize: )?(?:Unable to interrupt task|Can't seize task):? ([0-9]+).*"),
          rule(Kind.NOT_PERMITTED, "(Can't (?:get|set) rlimit [0-9]+): Operation not permitted"),
          rule(
              Kind.CPU_DIFFERS,
              "(?:cpu: )?(CPU .*(?:do not match run time|unsupported bits|mismatch).*)"),
          rule(
              Kind.IMAGES_DAMAGED,
              "(Img trimmed.*|Unexpected EOF on.*|.*[Mm]agic doesn't match.*|Image corrupted.*)"),
          rule(Kind.NOT_PERMITTED, "(.*): Operation not permitted"));

  private @Nullable String first;
  private @Nullable CriuFault fault;

  private CriuLog() {}

  public static CriuLog read(Path file) throws IOException {
    CriuLog log = new CriuLog();
    new LogTail(file).forEach(log::add);
    return log;
  }

  static CriuLog of(String text) {
    CriuLog log = new CriuLog();
    text.lines().forEach(log::add);
    return log;
  }

  private void add(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches() || !"Error".equals(matcher.group(1))) {
      return;
    }
    String error = matcher.group(3);
    if (HARMLESS.stream().anyMatch(pattern -> pattern.matcher(error).matches())) {
      return;
    }
    first = first == null ? error : first;
    fault = fault == null ? fault(error) : fault;
  }

  /** Returns whether it has errors, besides those of successful runs. */
  boolean hasErrors() {
    return first != null;
  }

  /** Returns the first known error; later lines are its consequences. */
  public CriuFault fault() {
    if (fault != null) {
      return fault;
    }
    return new CriuFault(
        Kind.OTHER, "", Objects.requireNonNullElse(first, "criu's log holds no error"));
  }

  private static @Nullable CriuFault fault(String error) {
    for (Rule rule : RULES) {
      Matcher matcher = rule.pattern.matcher(error);
      if (matcher.matches()) {
        return new CriuFault(rule.kind, matcher.group(1).trim(), error);
      }
    }
    return null;
  }

  private static Rule rule(Kind kind, String pattern) {
    return new Rule(kind, Pattern.compile(pattern));
  }

  private record Rule(Kind kind, Pattern pattern) {}
}
