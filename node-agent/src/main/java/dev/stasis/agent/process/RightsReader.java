package dev.stasis.agent.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the rights of threads from /proc. */
public final class RightsReader {

  /** user:role:type, and a range if the policy has levels. */
  private static final String SELINUX = "[^: ]+:[^: ]+:[^: ]+(:.*)?";

  private final ProcFs proc;

  public RightsReader(ProcFs proc) {
    this.proc = proc;
  }

  /** Returns the label of the main thread; empty if the process is gone. */
  public Optional<ThreadRights> of(int pid) {
    return read(pid, proc.folder(pid));
  }

  public List<ThreadRights> threads(int pid) {
    List<ThreadRights> threads = new ArrayList<>();
    for (int tid : proc.numbers(tasks(pid))) {
      read(tid, task(pid, tid)).ifPresent(threads::add);
    }
    return threads;
  }

  /** Empty if no such security module is enabled, or the process is gone. */
  public Optional<SecurityLabel> label(int pid) {
    return label(proc.folder(pid));
  }

  public Optional<SecurityLabel> label(int pid, int tid) {
    return label(task(pid, tid));
  }

  public List<SecurityLabel> labels(int pid) {
    return proc.numbers(tasks(pid)).stream().flatMap(tid -> label(pid, tid).stream()).toList();
  }

  /** The capabilities that this kernel knows; all if it does not report them. */
  public long knownCapabilities() {
    // One read: a sysctl returns nothing after the first one.
    try (InputStream in = Files.newInputStream(proc.root().resolve("sys/kernel/cap_last_cap"))) {
      String last = new String(in.readNBytes(16), StandardCharsets.US_ASCII);
      return -1L >>> (Long.SIZE - 1 - Integer.parseInt(last.trim()));
    } catch (IOException e) {
      return -1L;
    }
  }

  private static Optional<ThreadRights> read(int tid, Path folder) {
    return ProcFiles.read(folder.resolve("status")).map(text -> ThreadRights.parse(tid, text));
  }

  /** If both modules are enabled, the separate folder has AppArmor's label. */
  private static Optional<SecurityLabel> label(Path folder) {
    return text(folder.resolve("attr/apparmor/current"))
        .map(text -> new SecurityLabel(true, text))
        .or(
            () ->
                text(folder.resolve("attr/current"))
                    .map(text -> new SecurityLabel(!text.matches(SELINUX), text)));
  }

  private static Optional<String> text(Path file) {
    return ProcFiles.read(file)
        .map(text -> text.replace("\0", "").trim())
        .filter(text -> !text.isEmpty());
  }

  private Path tasks(int pid) {
    return proc.folder(pid).resolve("task");
  }

  private Path task(int pid, int tid) {
    return tasks(pid).resolve(Integer.toString(tid));
  }
}
