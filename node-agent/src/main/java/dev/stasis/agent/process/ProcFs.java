package dev.stasis.agent.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Reads /proc. If a process is gone, or ends while it is read, the result is empty. Any other
 * failure (no permission, a line that cannot be parsed) is an exception.
 *
 * <p>Two reads show the same moment only if the process is stopped.
 *
 * <p>Of what a process can enlarge (its arguments, environment, mappings, mounts and descriptors)
 * only the beginning is read, so that every workload can be found and thawed. {@link #strict}
 * returns a reader for decisions that need all of it.
 */
public final class ProcFs {

  /** The kernel shows times in ticks of this length on every machine. */
  private static final long TICK_MILLISECONDS = 10;

  private static final String DESCRIPTORS = "Max open files";

  /** The kernel starts no program with more than 6 MiB of both, and usually with less than 2. */
  private static final int MOST_ARGUMENT_BYTES = 4 << 20;

  /** Enough for the program and its first argument. */
  private static final int COMMAND_BYTES = 4 << 10;

  /** The first lines of a descriptor's information, which all kinds have. */
  private static final int INFO_START_BYTES = 4 << 10;

  private static final int MOST_INFO_BYTES = 4 << 20;

  /** Of mappings and of descriptors. The kernel's default limit for mappings is 65,530. */
  private static final int MOST_ENTRIES = 100_000;

  private static final int MOST_MOUNTS = 30_000;

  /** Some 700 bytes for each mapping. */
  private static final long MOST_SMAPS_BYTES = 128L << 20;

  private final Path root;
  private final LimitedReader files;

  public ProcFs() {
    this(Path.of("/proc"));
  }

  /** Reads another folder with the layout of /proc. */
  public ProcFs(Path root) {
    this(new LimitedReader(root, false));
  }

  private ProcFs(LimitedReader files) {
    this.root = files.root();
    this.files = files;
  }

  /** Returns a reader that throws {@link ProcLimitException} for what it does not read whole. */
  public ProcFs strict() {
    return new ProcFs(new LimitedReader(root, true));
  }

  /** The folder that is read, usually {@code /proc}. */
  public Path root() {
    return root;
  }

  public Path folder(int pid) {
    return root.resolve(Integer.toString(pid));
  }

  /** Returns the process that currently has this pid. */
  public Optional<ProcessId> id(int pid) {
    return stat(pid).map(ProcessStat::id);
  }

  /** Returns whether this process exists and has not ended; a zombie has ended. */
  public boolean alive(ProcessId process) {
    return stat(process).filter(stat -> !stat.isZombie()).isPresent();
  }

  public Optional<ProcessStat> stat(int pid) {
    return ProcFiles.read(folder(pid).resolve("stat")).map(ProcessStat::parse);
  }

  /** Same as {@link #stat(int)}, but also empty if another process has the pid now. */
  public Optional<ProcessStat> stat(ProcessId process) {
    return stat(process.pid()).filter(stat -> stat.startTime() == process.startTime());
  }

  /** Returns the time since a process was started, to a clock tick. */
  public Optional<Duration> age(ProcessId process) {
    return ProcFiles.read(root.resolve("uptime"))
        .map(uptime -> new BigDecimal(uptime.substring(0, uptime.indexOf(' '))))
        .map(now -> now.movePointRight(3).longValue() - process.startTime() * TICK_MILLISECONDS)
        .map(Duration::ofMillis);
  }

  public Optional<ProcessStatus> status(int pid) {
    return ProcFiles.read(folder(pid).resolve("status")).map(ProcessStatus::parse);
  }

  /** Returns the program's own threads, without those of the kernel. */
  public List<ThreadStat> threads(int pid) {
    List<ThreadStat> threads = new ArrayList<>();
    for (int tid : numbers(folder(pid).resolve("task"))) {
      Path folder = folder(pid).resolve("task").resolve(Integer.toString(tid));
      Optional<ProcessStat> stat = ProcFiles.read(folder.resolve("stat")).map(ProcessStat::parse);
      Optional<ProcessStatus> status =
          ProcFiles.read(folder.resolve("status")).map(ProcessStatus::parse);
      if (stat.isPresent() && status.isPresent() && !stat.get().isIoWorker()) {
        threads.add(new ThreadStat(tid, stat.get().state(), status.get().tracerPid()));
      }
    }
    return threads;
  }

  public List<ThreadSettings> threadSettings(int pid) {
    List<ThreadSettings> all = new ArrayList<>();
    for (ThreadStat own : threads(pid)) {
      int tid = own.tid();
      Path status = folder(pid).resolve("task").resolve(tid + "/status");
      ProcFiles.read(status)
          .map(ProcessStatus::parse)
          .ifPresent(
              thread ->
                  all.add(
                      new ThreadSettings(tid, thread.ownPid(), thread.cpus(), timerSlack(tid))));
    }
    return all;
  }

  private long timerSlack(int tid) {
    try {
      return ProcFiles.read(folder(tid).resolve("timerslack_ns"))
          .map(text -> Long.parseLong(text.trim()))
          .orElse(0L);
    } catch (UncheckedIOException e) {
      // Reading it requires the right to change it.
      return 0;
    }
  }

  /**
   * Returns every process of the machine by ascending pid, including kernel threads and zombies.
   */
  public List<ProcessStat> processes() {
    return numbers(root).stream().map(this::stat).flatMap(Optional::stream).toList();
  }

  public List<ProcessStat> children(int pid) {
    return processes().stream().filter(stat -> stat.ppid() == pid).toList();
  }

  public List<MemoryMapping> maps(int pid) {
    return files.lines(folder(pid).resolve("maps"), 0, MOST_ENTRIES, MemoryMapping::parse);
  }

  /** Same as {@link #maps}, with statistics of the pages; slow for a large process. */
  public List<MappingUse> smaps(int pid) {
    MappingUse.Parser parser = new MappingUse.Parser(MOST_ENTRIES, LimitedReader.MOST_LINE_BYTES);
    return files.eachLine(
            folder(pid).resolve("smaps"), MOST_SMAPS_BYTES, MOST_ENTRIES, parser::accept)
        ? parser.end()
        : List.of();
  }

  /** In mount order, which is the kernel's order. */
  public List<Mount> mounts(int pid) {
    return files.lines(folder(pid).resolve("mountinfo"), 0, MOST_MOUNTS, Mount::parse);
  }

  public List<CgroupMembership> cgroups(int pid) {
    return files.lines(folder(pid).resolve("cgroup"), 0, MOST_MOUNTS, CgroupMembership::parse);
  }

  public List<OpenFile> openFiles(int pid) {
    List<OpenFile> open = new ArrayList<>();
    Path folder = folder(pid).resolve("fd");
    long bytes = 0;
    for (int fd : files.numbers(folder, MOST_ENTRIES)) {
      Optional<String> target = ProcFiles.link(folder.resolve(Integer.toString(fd)));
      Optional<ProcFiles.Beginning> info = ProcFiles.read(info(pid, fd), INFO_START_BYTES);
      if (target.isPresent() && info.isPresent()) {
        bytes += target.get().length();
        if (bytes > LimitedReader.MOST_LINE_BYTES) {
          files.exceeded(folder, "16 MiB of paths");
          break;
        }
        open.add(OpenFile.parse(fd, target.get(), info.get().text()));
      }
    }
    return open;
  }

  /**
   * Returns the kernel's information on a descriptor; empty if it is closed or the process is gone.
   */
  public String fileInfo(int pid, int fd) {
    return files.text(info(pid, fd), MOST_INFO_BYTES).orElse("");
  }

  /** Passes on its lines, of any number, until one is not accepted. */
  public void fileInfo(int pid, int fd, Predicate<String> accept) {
    ProcFiles.lines(info(pid, fd), Long.MAX_VALUE, accept);
  }

  private Path info(int pid, int fd) {
    return folder(pid).resolve("fdinfo").resolve(Integer.toString(fd));
  }

  /**
   * Returns the first descriptor number that the process may not open; empty without a limit or a
   * process.
   */
  public OptionalLong descriptorLimit(int pid) {
    return ProcFiles.read(folder(pid).resolve("limits"))
        .flatMap(text -> text.lines().filter(line -> line.startsWith(DESCRIPTORS)).findFirst())
        .map(line -> line.substring(DESCRIPTORS.length()).trim().split(" +")[0])
        .filter(soft -> !soft.equals("unlimited"))
        .map(soft -> OptionalLong.of(Long.parseLong(soft)))
        .orElse(OptionalLong.empty());
  }

  /** Returns whether the process has a limit of its address space (ulimit -v). */
  public boolean hasAddressLimit(int pid) {
    return ProcFiles.read(folder(pid).resolve("limits"))
        .filter(text -> !text.matches("(?s).*\nMax address space +unlimited.*"))
        .isPresent();
  }

  /** Maps the type of each namespace ({@code net}, {@code pid}, ...) to its inode. */
  public Map<String, Long> namespaces(int pid) {
    Map<String, Long> inodes = new TreeMap<>();
    Path folder = folder(pid).resolve("ns");
    for (String type : ProcFiles.names(folder, Integer.MAX_VALUE - 1)) {
      ProcFiles.link(folder.resolve(type))
          .ifPresent(target -> inode(target).ifPresent(inode -> inodes.put(type, inode)));
    }
    return inodes;
  }

  /**
   * Returns the environment with which the process was started. Empty for a process without memory.
   */
  public Map<String, String> environment(int pid) {
    Map<String, String> environment = new LinkedHashMap<>();
    for (String entry : strings(files.text(folder(pid).resolve("environ"), MOST_ARGUMENT_BYTES))) {
      int equals = entry.indexOf('=');
      if (equals > 0) {
        environment.putIfAbsent(entry.substring(0, equals), entry.substring(equals + 1));
      }
    }
    return environment;
  }

  public List<String> cmdline(int pid) {
    return strings(files.text(folder(pid).resolve("cmdline"), MOST_ARGUMENT_BYTES));
  }

  /** Returns the program and its first arguments, never with an exception for the length. */
  public List<String> command(int pid) {
    return strings(
        ProcFiles.read(folder(pid).resolve("cmdline"), COMMAND_BYTES)
            .map(ProcFiles.Beginning::text));
  }

  /**
   * Returns the target of the process's link {@code name} ({@code exe}, {@code cwd}, {@code root}).
   */
  public Optional<String> link(int pid, String name) {
    return ProcFiles.link(folder(pid).resolve(name));
  }

  /**
   * Returns a setting of the kernel, such as {@code sys/kernel/pid_max}. The kernel gives a number
   * to one read only: {@code Files.readString} begins with a single byte, and gets the first digit.
   */
  public String setting(String name) throws IOException {
    try (InputStream in = Files.newInputStream(root.resolve(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).trim();
    }
  }

  /** Changes with every boot; records with another boot id are obsolete. */
  public String bootId() {
    return ProcFiles.read(root.resolve("sys/kernel/random/boot_id"))
        .orElseThrow(() -> new IllegalStateException("boot id: expected a file in " + root))
        .trim();
  }

  /** Returns a line of /proc/meminfo in bytes, for example {@code MemAvailable}. */
  public OptionalLong memory(String name) {
    return memory(root.resolve("meminfo"), name);
  }

  /** Returns a line of a process's status in bytes, for example {@code VmRSS}. */
  public OptionalLong memory(int pid, String name) {
    return memory(folder(pid).resolve("status"), name);
  }

  private OptionalLong memory(Path file, String name) {
    return ProcFiles.read(file)
        .flatMap(text -> text.lines().filter(line -> line.startsWith(name + ":")).findFirst())
        .map(line -> line.replaceAll("[^0-9]", " ").trim().split(" ")[0])
        .map(kibibytes -> OptionalLong.of(Long.parseLong(kibibytes) * 1024))
        .orElse(OptionalLong.empty());
  }

  private static OptionalLong inode(String target) {
    return new OpenFile(0, target, 0, 0, 0).inode();
  }

  private static List<String> strings(Optional<String> text) {
    String content = text.orElse("");
    if (content.isEmpty()) {
      return List.of();
    }
    // Each string ends with a NUL, unless the process has overwritten the last one.
    int end = content.endsWith("\0") ? content.length() - 1 : content.length();
    return List.of(content.substring(0, end).split("\0", -1));
  }

  /** Such as pids and threads; the kernel limits their number. */
  List<Integer> numbers(Path folder) {
    return files.numbers(folder, Integer.MAX_VALUE - 1);
  }

  LimitedReader files() {
    return files;
  }
}
