package dev.stasis.agent.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Reads /proc. If a process is gone, or ends while it is read, the result is empty. Any other
 * failure (no permission, a line that cannot be parsed) is an exception.
 *
 * <p>Two reads show the same moment only if the process is stopped.
 */
public final class ProcFs {

  private static final String DESCRIPTORS = "Max open files";

  private final Path root;

  public ProcFs() {
    this(Path.of("/proc"));
  }

  /** Reads another folder with the layout of /proc. */
  public ProcFs(Path root) {
    this.root = root;
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
        ProcessStat thread = stat.get();
        threads.add(
            new ThreadStat(
                tid,
                thread.comm(),
                thread.state(),
                thread.startTime(),
                thread.cpuTicks(),
                status.get().tracerPid()));
      }
    }
    return threads;
  }

  /** Returns the settings of each thread. */
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
                      new ThreadSettings(
                          tid,
                          thread.nsPids().get(thread.nsPids().size() - 1),
                          thread.cpus(),
                          timerSlack(tid))));
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
    return lines(folder(pid).resolve("maps"), MemoryMapping::parse);
  }

  /** Same as {@link #maps}, with statistics of the pages; slow for a large process. */
  public List<MappingUse> smaps(int pid) {
    return ProcFiles.read(folder(pid).resolve("smaps")).map(MappingUse::parse).orElse(List.of());
  }

  /** In mount order, which is the kernel's order. */
  public List<Mount> mounts(int pid) {
    return lines(folder(pid).resolve("mountinfo"), Mount::parse);
  }

  public List<CgroupMembership> cgroups(int pid) {
    return lines(folder(pid).resolve("cgroup"), CgroupMembership::parse);
  }

  public List<OpenFile> openFiles(int pid) {
    List<OpenFile> files = new ArrayList<>();
    for (int fd : numbers(folder(pid).resolve("fd"))) {
      Optional<String> target =
          ProcFiles.link(folder(pid).resolve("fd").resolve(Integer.toString(fd)));
      Optional<String> info =
          ProcFiles.read(folder(pid).resolve("fdinfo").resolve(Integer.toString(fd)));
      if (target.isPresent() && info.isPresent()) {
        files.add(OpenFile.parse(fd, target.get(), info.get()));
      }
    }
    return files;
  }

  /**
   * Returns the kernel's information on a descriptor; empty if it is closed or the process is gone.
   */
  public String fileInfo(int pid, int fd) {
    return ProcFiles.read(folder(pid).resolve("fdinfo").resolve(Integer.toString(fd))).orElse("");
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
    for (String type : ProcFiles.names(folder)) {
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
    for (String entry : strings(folder(pid).resolve("environ"))) {
      int equals = entry.indexOf('=');
      if (equals > 0) {
        environment.putIfAbsent(entry.substring(0, equals), entry.substring(equals + 1));
      }
    }
    return environment;
  }

  public List<String> cmdline(int pid) {
    return strings(folder(pid).resolve("cmdline"));
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

  private <T> List<T> lines(Path file, Function<String, T> parse) {
    return ProcFiles.read(file)
        .map(
            text ->
                // Not String.lines: a carriage return in a name would end a line.
                Arrays.stream(text.split("\n")).filter(line -> !line.isEmpty()).map(parse).toList())
        .orElse(List.of());
  }

  private List<String> strings(Path file) {
    Optional<String> text = ProcFiles.read(file).filter(content -> !content.isEmpty());
    if (text.isEmpty()) {
      return List.of();
    }
    // Each string ends with a NUL, unless the process has overwritten the last one.
    String content = text.get();
    int end = content.endsWith("\0") ? content.length() - 1 : content.length();
    return List.of(content.substring(0, end).split("\0", -1));
  }

  List<Integer> numbers(Path folder) {
    List<Integer> numbers = new ArrayList<>();
    for (String name : ProcFiles.names(folder)) {
      if (!name.isEmpty() && name.chars().allMatch(digit -> digit >= '0' && digit <= '9')) {
        numbers.add(Integer.parseInt(name));
      }
    }
    Collections.sort(numbers);
    return numbers;
  }
}
