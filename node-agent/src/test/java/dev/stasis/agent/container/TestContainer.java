package dev.stasis.agent.container;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A real runc container without a shell: an overlay root with one program in it, an emptyDir at
 * /data, its output through a pipe into a file, as under Kubernetes.
 */
public final class TestContainer implements AutoCloseable {

  private static final List<String> USUAL_CAPABILITIES =
      List.of(
          "CAP_CHOWN",
          "CAP_DAC_OVERRIDE",
          "CAP_FSETID",
          "CAP_FOWNER",
          "CAP_MKNOD",
          "CAP_NET_RAW",
          "CAP_SETGID",
          "CAP_SETUID",
          "CAP_SETFCAP",
          "CAP_SETPCAP",
          "CAP_NET_BIND_SERVICE",
          "CAP_SYS_CHROOT",
          "CAP_KILL",
          "CAP_AUDIT_WRITE");

  private static final String HOLDER = "stasis-runtime";

  private final String id = (UUID.randomUUID().toString() + UUID.randomUUID()).replace("-", "");
  private final Path folder;
  private final Path cgroup;
  private final boolean readOnly;

  private TestContainer(Path folder, String pod, boolean readOnly) {
    this.folder = folder;
    this.readOnly = readOnly;
    this.cgroup = Path.of("/kubepods/besteffort", pod, id);
  }

  /** Starts a program of {@code src/test/c} as uid (and gid) with these arguments. */
  public static TestContainer start(String program, int uid, String... arguments)
      throws IOException, InterruptedException {
    return start(false, program, uid, arguments);
  }

  /** As {@link #start}, with a root that cannot be written, but with a /tmp in it. */
  public static TestContainer readOnly(String program, int uid, String... arguments)
      throws IOException, InterruptedException {
    return start(true, program, uid, arguments);
  }

  private static TestContainer start(boolean readOnly, String program, int uid, String... arguments)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("stasis-container");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    String pod = "pod" + UUID.randomUUID().toString().substring(0, 8);
    TestContainer container = new TestContainer(folder, pod, readOnly);
    try {
      container.run(program, uid, List.of(arguments));
    } catch (IOException | InterruptedException | RuntimeException e) {
      container.close();
      throw e;
    }
    return container;
  }

  /** As {@link #holder}, with a root that cannot be written. */
  public static TestContainer readOnlyHolder(int uid) throws IOException, InterruptedException {
    return readOnly(HOLDER, uid, "init", "--", "/nothing");
  }

  /** A container whose first process waits for a restore. */
  public static TestContainer holder(int uid) throws IOException, InterruptedException {
    return start(HOLDER, uid, "init", "--", "/nothing");
  }

  public String id() {
    return id;
  }

  public Path folder() {
    return folder;
  }

  /** The folder of the host behind /data. */
  public Path data() {
    return folder.resolve("data");
  }

  public Path upper() {
    return folder.resolve("upper");
  }

  public Container resolve() {
    Resolution resolution = new ContainerResolver(new ProcFs()).resolve(id);
    if (resolution instanceof Resolution.Found found) {
      return found.container();
    }
    throw new IllegalStateException(resolution.toString());
  }

  public List<String> output() throws IOException {
    Path output = folder.resolve("output");
    if (!Files.exists(output)) {
      return List.of();
    }
    String text = Files.readString(output);
    // The last line may be half written.
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  private void run(String program, int uid, List<String> arguments)
      throws IOException, InterruptedException {
    for (String name : List.of("lower", "upper", "work", "root", "data", "stasis")) {
      Path made = Files.createDirectory(folder.resolve(name));
      Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxrwxrwx"));
    }
    List<String> image = new ArrayList<>(List.of("proc", "dev", "sys", "data", ".stasis"));
    if (readOnly) {
      image.add("tmp");
    }
    for (String name : image) {
      Files.createDirectory(folder.resolve("lower").resolve(name));
    }
    TestPrograms programs = new TestPrograms();
    boolean holder = program.equals(HOLDER);
    // A container that is restored into has the image of the source.
    put(programs.compiled(holder ? "workload" : program), "program");
    if (holder) {
      put(programs.runtime(), HOLDER);
    }
    String name = holder ? HOLDER : "program";
    command(
        "mount",
        "-t",
        "overlay",
        "overlay",
        "-o",
        "lowerdir=%1$s/lower,upperdir=%1$s/upper,workdir=%1$s/work".formatted(folder),
        folder.resolve("root").toString());
    List<String> line = new ArrayList<>(List.of("/" + name));
    line.addAll(arguments);
    Files.writeString(folder.resolve("config.json"), config(uid, line));
    // cat stays and reads for as long as the container writes, as a runtime's shim does.
    new ProcessBuilder(
            "sh",
            "-c",
            "runc run -d --bundle \"$0\" \"$1\" 2>&1 </dev/null | cat >\"$0/output\"",
            folder.toString(),
            id)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
    awaitRunning(name);
  }

  private void put(Path program, String name) throws IOException {
    Path inside = Files.copy(program, folder.resolve("lower").resolve(name));
    Files.setPosixFilePermissions(inside, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private void awaitRunning(String name) {
    ContainerResolver resolver = new ContainerResolver(new ProcFs());
    org.awaitility.Awaitility.await()
        // runc needs seconds on a busy machine.
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(50))
        .until(
            () ->
                resolver.resolve(id) instanceof Resolution.Found found
                    && new ProcFs()
                        .stat(found.container().init())
                        .filter(stat -> name.startsWith(stat.comm()))
                        .isPresent());
  }

  private static Map<String, Object> rlimit(String type, int most) {
    return Map.of("type", type, "hard", most, "soft", most);
  }

  private String config(int uid, List<String> line) throws IOException {
    List<String> capabilities = uid == 0 ? USUAL_CAPABILITIES : List.of();
    Map<String, Object> process = new LinkedHashMap<>();
    process.put("user", Map.of("uid", uid, "gid", uid));
    process.put("args", line);
    process.put("env", List.of("PATH=/"));
    process.put("cwd", "/");
    process.put("noNewPrivileges", true);
    process.put(
        "capabilities",
        Map.of("bounding", capabilities, "effective", capabilities, "permitted", capabilities));
    // Few descriptors, and files far smaller than the log that criu writes in the workload's name.
    process.put("rlimits", List.of(rlimit("RLIMIT_NOFILE", 1024), rlimit("RLIMIT_FSIZE", 16384)));
    List<Object> mounts = new ArrayList<>();
    mounts.add(mount("/proc", "proc", "proc"));
    mounts.add(mount("/dev", "tmpfs", "tmpfs", "nosuid", "mode=755", "size=65536k"));
    mounts.add(mount("/dev/pts", "devpts", "devpts", "nosuid", "noexec", "newinstance"));
    mounts.add(mount("/dev/shm", "tmpfs", "shm", "nosuid", "nodev", "noexec", "mode=1777"));
    mounts.add(mount("/dev/mqueue", "mqueue", "mqueue", "nosuid", "noexec", "nodev"));
    mounts.add(mount("/sys", "sysfs", "sysfs", "nosuid", "noexec", "nodev", "ro"));
    mounts.add(mount("/data", "bind", data().toString(), "rbind", "rw"));
    mounts.add(mount("/.stasis", "bind", folder.resolve("stasis").toString(), "rbind", "rw"));
    Map<String, Object> linux = new LinkedHashMap<>();
    linux.put("cgroupsPath", cgroup.toString());
    linux.put(
        "namespaces",
        List.of(
            Map.of("type", "pid"),
            Map.of("type", "network"),
            Map.of("type", "ipc"),
            Map.of("type", "uts"),
            Map.of("type", "mount")));
    linux.put(
        "maskedPaths", List.of("/proc/acpi", "/proc/keys", "/proc/timer_list", "/sys/firmware"));
    linux.put("readonlyPaths", List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"));
    return new ObjectMapper()
        .writeValueAsString(
            Map.of(
                "ociVersion",
                "1.0.2",
                "process",
                process,
                "root",
                Map.of("path", folder.resolve("root").toString(), "readonly", readOnly),
                "hostname",
                "test",
                "mounts",
                mounts,
                "linux",
                linux));
  }

  private static Map<String, Object> mount(
      String destination, String type, String source, String... options) {
    return Map.of(
        "destination", destination, "type", type, "source", source, "options", List.of(options));
  }

  @Override
  public void close() throws IOException, InterruptedException {
    new ProcessBuilder("runc", "delete", "-f", id)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
    new ProcessBuilder("umount", "-l", folder.resolve("root").toString())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
    for (Mount mount : new ProcFs().mounts((int) ProcessHandle.current().pid())) {
      if (mount.type().startsWith("cgroup")) {
        // runc leaves the pod's folder above its own.
        Path pods = Path.of(mount.mountPoint()).resolve("kubepods/besteffort");
        Path pod = pods.resolve(cgroup.getName(2));
        Files.deleteIfExists(pod.resolve(id));
        Files.deleteIfExists(pod);
      }
    }
    deleteTree(folder);
  }

  private static void deleteTree(Path folder) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(
              Path left, @org.jspecify.annotations.Nullable IOException e) throws IOException {
            Files.delete(left);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static void command(String... line) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(line).inheritIO().start();
    // None of these takes more than a moment.
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", line) + " failed");
    }
  }
}
