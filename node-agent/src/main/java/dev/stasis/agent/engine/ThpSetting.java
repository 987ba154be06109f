package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RecordFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sets transparent huge pages to {@code always} while the driver copies out. The setting belongs to
 * the whole machine, so it has one owner: a host file with the old value, the boot and the current
 * users, written before the change. The last user restores it, an agent's start does so when all
 * users are dead, and a watchdog child does so when this process dies; and only while the value is
 * still ours.
 */
public final class ThpSetting {

  private static final System.Logger LOG = System.getLogger(ThpSetting.class.getName());
  private static final Pattern CHOSEN = Pattern.compile("\\[([a-z]+)]");
  private static final String OURS = "always";

  /** Other users hold the lock for a file write. */
  private static final Duration LOCK_WAIT = Duration.ofSeconds(5);

  private final Path setting;
  private final Path note;
  private final HostLocks locks;
  private final ProcFs proc;
  private final ObjectMapper json = new ObjectMapper();

  /**
   * The setting of this machine.
   *
   * @param setting usually {@code /sys/kernel/mm/transparent_hugepage/enabled}
   * @param stateDir the node's state folder
   */
  public ThpSetting(Path setting, Path stateDir, HostLocks locks, ProcFs proc) {
    this.setting = setting;
    this.note = stateDir.resolve("thp.json");
    this.locks = locks;
    this.proc = proc;
  }

  /** The content of the host file. */
  record Note(String bootId, String oldValue, List<ProcessId> users) {}

  /** The raised setting; closing it restores the old one if it has no other user. */
  public final class Raised implements AutoCloseable {
    private final Optional<Process> watchdog;

    private Raised(Optional<Process> watchdog) {
      this.watchdog = watchdog;
    }

    @Override
    public void close() {
      if (watchdog.isPresent()) {
        leave(self());
        // Its standard input ends: it finds nothing left to do, and exits.
        watchdog.get().destroy();
      }
    }
  }

  /** Does nothing, if it is not configured. */
  public Raised untouched() {
    return new Raised(Optional.empty());
  }

  /** Raises the setting; if the machine does not allow that, everything continues without it. */
  public Raised raise() throws InterruptedException {
    Optional<HostLocks.Held> held = locks.take("thp", LOCK_WAIT);
    if (held.isEmpty() || !Files.isWritable(setting)) {
      held.ifPresent(HostLocks.Held::close);
      return untouched();
    }
    try (HostLocks.Held lock = held.get()) {
      Note now = living();
      String old = now.users().isEmpty() ? value() : now.oldValue();
      List<ProcessId> users = new ArrayList<>(now.users());
      users.add(self());
      write(new Note(proc.bootId(), old, users));
      Files.writeString(setting, OURS);
      return new Raised(Optional.of(watchdog(old)));
    } catch (IOException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "Cannot change the setting of huge pages: " + e.getMessage());
      leave(self());
      return untouched();
    }
  }

  /** Restores the setting if all its users are dead; for an agent's start and stop. */
  public void putBackIfAbandoned() throws InterruptedException {
    Optional<HostLocks.Held> held = locks.take("thp", LOCK_WAIT);
    if (held.isPresent()) {
      try (HostLocks.Held lock = held.get()) {
        settle(living());
      } catch (IOException e) {
        throw new UncheckedIOException("Cannot restore the setting of huge pages", e);
      }
    }
  }

  private void leave(ProcessId user) {
    // Best effort: without the lock the entry of another user could be lost. With it that cannot
    // happen, and it is never held for long.
    Optional<HostLocks.Held> lock = locks.tryTake("thp");
    try {
      Note now = living();
      List<ProcessId> users = new ArrayList<>(now.users());
      users.remove(user);
      settle(new Note(now.bootId(), now.oldValue(), users));
    } catch (IOException e) {
      LOG.log(System.Logger.Level.ERROR, "Cannot restore the setting of huge pages", e);
    } finally {
      lock.ifPresent(HostLocks.Held::close);
    }
  }

  private void settle(Note now) throws IOException {
    if (!now.users().isEmpty()) {
      write(now);
      return;
    }
    if (Files.exists(note)) {
      if (value().equals(OURS) && !now.oldValue().isEmpty()) {
        Files.writeString(setting, now.oldValue());
      }
      Files.deleteIfExists(note);
    }
  }

  /**
   * The entries of living users; empty if the file is from another boot, in which the setting was
   * reset.
   */
  private Note living() throws IOException {
    if (!Files.exists(note)) {
      return new Note(proc.bootId(), "", List.of());
    }
    Note found = json.readValue(Files.readAllBytes(note), Note.class);
    if (!found.bootId().equals(proc.bootId())) {
      Files.deleteIfExists(note);
      return new Note(proc.bootId(), "", List.of());
    }
    return new Note(
        found.bootId(), found.oldValue(), found.users().stream().filter(proc::alive).toList());
  }

  private void write(Note now) throws IOException {
    Files.createDirectories(note.getParent());
    new RecordFile(note).write(json.writeValueAsBytes(now));
  }

  private String value() throws IOException {
    Matcher chosen = CHOSEN.matcher(Files.readString(setting));
    return chosen.find() ? chosen.group(1) : "";
  }

  private ProcessId self() {
    int pid = (int) ProcessHandle.current().pid();
    return proc.id(pid).orElseThrow();
  }

  /**
   * Waits for the end of its standard input, which means that the agent is dead. It then restores
   * the old value if the current one is still ours and the file exists without another user.
   */
  private Process watchdog(String old) throws IOException {
    String script =
        "read -r line; [ -e \"$1\" ] || exit 0; [ \"$(grep -o '\"pid\"' \"$1\" | wc -l)\" -le 1"
            + " ] || exit 0;"
            + " grep -q '\\["
            + OURS
            + "]' \"$2\" && echo \"$3\" > \"$2\"";
    return new ChildStart()
        .start(
            new ProcessBuilder(
                    "setsid",
                    "sh",
                    "-c",
                    script,
                    "thp-watchdog",
                    note.toString(),
                    setting.toString(),
                    old)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD));
  }
}
