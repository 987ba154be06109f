package dev.stasis.agent.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a test's container is like.
 *
 * @param gpus the simulated GPUs of the node
 * @param visible which of them the container sees
 * @param security with which rights its first process runs
 * @param memoryLimit in bytes, 0 for none
 * @param holder whether it waits for a restore instead of working
 * @param program the workload; by default a counter
 * @param arguments of the workload
 * @param environment of the workload, beside the usual
 * @param volumes folders of the host that are mounted, by their paths in the container
 */
public record ContainerSpec(
    SimGpuNode gpus,
    List<Integer> visible,
    Security security,
    long memoryLimit,
    boolean holder,
    List<String> program,
    List<String> arguments,
    Map<String, String> environment,
    Map<String, Path> volumes) {

  /** A counter on GPU 0 as root. */
  public static ContainerSpec counter(SimGpuNode gpus, String... arguments) {
    return new ContainerSpec(
        gpus,
        List.of(0),
        Security.usual(),
        0,
        false,
        List.of("/bin/gpu-counter"),
        List.of(arguments),
        Map.of(),
        Map.of());
  }

  public ContainerSpec asHolder() {
    return new ContainerSpec(
        gpus, visible, security, memoryLimit, true, program, arguments, environment, volumes);
  }

  public ContainerSpec asUser(int id) {
    return with(Security.restricted(id));
  }

  public ContainerSpec with(Security other) {
    return new ContainerSpec(
        gpus, visible, other, memoryLimit, holder, program, arguments, environment, volumes);
  }

  public ContainerSpec withGpus(Integer... indexes) {
    return new ContainerSpec(
        gpus,
        List.of(indexes),
        security,
        memoryLimit,
        holder,
        program,
        arguments,
        environment,
        volumes);
  }

  public ContainerSpec withMemoryLimit(long bytes) {
    return new ContainerSpec(
        gpus, visible, security, bytes, holder, program, arguments, environment, volumes);
  }

  public ContainerSpec withEnvironment(Map<String, String> more) {
    return new ContainerSpec(
        gpus, visible, security, memoryLimit, holder, program, arguments, more, volumes);
  }

  public ContainerSpec withVolume(String path, Path folder) {
    Map<String, Path> all = new LinkedHashMap<>(volumes);
    all.put(path, folder);
    return new ContainerSpec(
        gpus, visible, security, memoryLimit, holder, program, arguments, environment, all);
  }

  /** With folders of the host, in that order. */
  public ContainerSpec withBinds(Map<String, Path> more) {
    return new ContainerSpec(
        gpus, visible, security, memoryLimit, holder, program, arguments, environment, more);
  }

  /** With another program, which starts counters by itself. */
  public ContainerSpec withProgram(List<String> other) {
    return new ContainerSpec(
        gpus, visible, security, memoryLimit, holder, other, List.of(), environment, volumes);
  }

  public ContainerSpec withCapabilities(String... more) {
    return with(security.withCapabilities(more));
  }

  Path runtime() {
    return Path.of(System.getProperty("stasis.runtime", "../runtime/target/stasis-runtime"))
        .toAbsolutePath();
  }

  /** An image: the workload and the C library, nothing else. */
  void fillImage(Path image) throws IOException {
    for (String folder :
        List.of(
            "bin",
            "proc",
            "dev",
            "sys",
            "tmp",
            "run",
            "etc",
            "data",
            "lib64",
            "lib/x86_64-linux-gnu",
            "usr/lib/x86_64-linux-gnu")) {
      Files.createDirectories(image.resolve(folder));
    }
    image.resolve("tmp").toFile().setWritable(true, false);
    image.resolve("data").toFile().setWritable(true, false);
    Files.copy(gpus.counter(), image.resolve("bin/gpu-counter"));
    for (String library : List.of("libc.so.6", "libdl.so.2", "libpthread.so.0", "libm.so.6")) {
      Path source = Path.of("/lib/x86_64-linux-gnu").resolve(library);
      if (Files.exists(source)) {
        Files.copy(source.toRealPath(), image.resolve("lib/x86_64-linux-gnu").resolve(library));
      }
    }
    Path loader = Path.of("/lib64/ld-linux-x86-64.so.2").toRealPath();
    Files.copy(loader, image.resolve("lib64/ld-linux-x86-64.so.2"));
    Files.writeString(image.resolve("etc/image-file"), "as the image has it\n");
  }

  /** The OCI runtime's configuration. */
  Map<String, Object> config(String id, Path folder) {
    List<String> command = new ArrayList<>();
    if (holder) {
      command.addAll(List.of("/.stasis/stasis-runtime", "init", "--"));
    }
    command.addAll(program);
    command.addAll(arguments);
    Map<String, Object> process = new LinkedHashMap<>();
    process.put("terminal", false);
    process.put("user", Map.of("uid", security.uid(), "gid", security.uid()));
    process.put("args", command);
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PATH", "/bin");
    variables.put("LD_LIBRARY_PATH", "/usr/lib/x86_64-linux-gnu");
    variables.putAll(environment);
    process.put(
        "env",
        variables.entrySet().stream().map(one -> one.getKey() + "=" + one.getValue()).toList());
    process.put("cwd", "/");
    List<String> capable = security.capabilities();
    process.put(
        "capabilities", Map.of("bounding", capable, "effective", capable, "permitted", capable));
    process.put("noNewPrivileges", security.noNewPrivileges());
    if (security.appArmorProfile() != null) {
      process.put("apparmorProfile", security.appArmorProfile());
    }
    Map<String, Object> resources = new LinkedHashMap<>();
    resources.put("devices", List.of(Map.of("allow", true, "access", "rwm")));
    if (memoryLimit > 0) {
      resources.put("memory", Map.of("limit", memoryLimit));
    }
    Map<String, Object> linux = new LinkedHashMap<>();
    linux.put("cgroupsPath", "/stasis-test/" + id);
    linux.put("resources", resources);
    linux.put(
        "namespaces",
        List.of("pid", "network", "ipc", "uts", "mount", "cgroup").stream()
            .map(type -> Map.of("type", type))
            .toList());
    security.seccomp().ifPresent(profile -> linux.put("seccomp", profile));
    linux.put(
        "maskedPaths", List.of("/proc/acpi", "/proc/keys", "/proc/timer_list", "/sys/firmware"));
    linux.put("readonlyPaths", List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"));
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("ociVersion", "1.0.2");
    config.put("process", process);
    config.put("root", Map.of("path", folder.resolve("rootfs").toString()));
    config.put("hostname", "box-" + id.substring(0, 6));
    config.put("mounts", mounts(folder));
    config.put("linux", linux);
    return config;
  }

  private List<Map<String, Object>> mounts(Path folder) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    mounts.add(mount("/proc", "proc", "proc", List.of()));
    mounts.add(
        mount(
            "/dev", "tmpfs", "tmpfs", List.of("nosuid", "strictatime", "mode=755", "size=65536k")));
    mounts.add(
        mount(
            "/dev/pts",
            "devpts",
            "devpts",
            List.of("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620")));
    mounts.add(
        mount(
            "/dev/shm",
            "tmpfs",
            "shm",
            List.of("nosuid", "noexec", "nodev", "mode=1777", "size=65536k")));
    mounts.add(mount("/dev/mqueue", "mqueue", "mqueue", List.of("nosuid", "noexec", "nodev")));
    mounts.add(mount("/sys", "sysfs", "sysfs", List.of("nosuid", "noexec", "nodev", "ro")));
    mounts.add(bind(gpus.libcuda(), "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "ro"));
    mounts.add(bind(gpus.libnccl(), "/usr/lib/x86_64-linux-gnu/libnccl.so.2", "ro"));
    mounts.add(bind(gpus.folder().resolve("nvidiactl"), "/dev/nvidiactl", "rw"));
    for (int gpu : visible) {
      mounts.add(bind(gpus.folder().resolve("nvidia" + gpu), "/dev/nvidia" + gpu, "rw"));
    }
    volumes.forEach((path, host) -> mounts.add(bind(host, path, "rw")));
    if (holder) {
      mounts.add(bind(folder.resolve("stasis"), "/.stasis", "rw"));
    }
    return mounts;
  }

  private static Map<String, Object> bind(Path source, String target, String access) {
    return mount(target, "bind", source.toString(), List.of("bind", access));
  }

  private static Map<String, Object> mount(
      String target, String type, String source, List<String> options) {
    return Map.of("destination", target, "type", type, "source", source, "options", options);
  }
}
