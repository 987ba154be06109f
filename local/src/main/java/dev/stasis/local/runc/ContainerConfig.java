package dev.stasis.local.runc;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration of a container.
 *
 * @param id 64 hexadecimal digits, as in container runtimes
 * @param process its first process
 * @param readOnlyRoot whether its root file system is read-only
 * @param hostname its hostname
 * @param mounts mounts besides the default ones, in order
 * @param cgroup path of its cgroup, the same in every hierarchy
 * @param memoryLimit in bytes, 0 for none
 * @param namespaces files of the namespaces to join, by type; all others are new
 */
public record ContainerConfig(
    String id,
    User process,
    boolean readOnlyRoot,
    String hostname,
    List<OciMount> mounts,
    String cgroup,
    long memoryLimit,
    Map<String, Path> namespaces) {

  public ContainerConfig {
    mounts = List.copyOf(mounts);
    namespaces = Map.copyOf(namespaces);
  }

  /**
   * The first process.
   *
   * @param argv program and arguments
   * @param env {@code NAME=value} each
   * @param cwd its initial working directory
   * @param uid its user
   * @param gid its group
   * @param groups its supplementary groups
   * @param capabilities its capabilities
   * @param noNewPrivileges whether to set no_new_privs
   */
  public record User(
      List<String> argv,
      List<String> env,
      String cwd,
      long uid,
      long gid,
      List<Long> groups,
      List<String> capabilities,
      boolean noNewPrivileges) {
    public User {
      argv = List.copyOf(argv);
      env = List.copyOf(env);
      groups = List.copyOf(groups);
      capabilities = List.copyOf(capabilities);
    }

    private Map<String, Object> json() {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("terminal", false);
      json.put("user", Map.of("uid", uid, "gid", gid, "additionalGids", groups));
      json.put("args", argv);
      json.put("env", env);
      json.put("cwd", cwd);
      // As in containerd: a user other than root has them only in the bounding set.
      List<String> effective = uid == 0 ? capabilities : List.of();
      json.put(
          "capabilities",
          Map.of("bounding", capabilities, "effective", effective, "permitted", effective));
      json.put("noNewPrivileges", noNewPrivileges);
      return json;
    }
  }

  Map<String, Object> json(Bundle bundle) {
    Map<String, Object> resources = new LinkedHashMap<>();
    // GPUs are bind mounts of their device files; the mounted ones are visible, as with a toolkit.
    resources.put("devices", List.of(Map.of("allow", true, "access", "rwm")));
    if (memoryLimit > 0) {
      resources.put("memory", Map.of("limit", memoryLimit));
    }
    Map<String, Object> linux = new LinkedHashMap<>();
    linux.put("cgroupsPath", cgroup);
    linux.put("resources", resources);
    linux.put("namespaces", namespacesJson());
    linux.put(
        "maskedPaths", List.of("/proc/acpi", "/proc/keys", "/proc/timer_list", "/sys/firmware"));
    linux.put("readonlyPaths", List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"));
    List<Map<String, Object>> all = new ArrayList<>();
    OciMount.usual().forEach(mount -> all.add(mount.json()));
    mounts.forEach(mount -> all.add(mount.json()));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("ociVersion", "1.0.2");
    json.put("process", process.json());
    json.put("root", Map.of("path", bundle.rootfs().toString(), "readonly", readOnlyRoot));
    if (!namespaces.containsKey("uts")) {
      json.put("hostname", hostname);
    }
    json.put("mounts", all);
    json.put("linux", linux);
    return json;
  }

  private List<Map<String, Object>> namespacesJson() {
    List<Map<String, Object>> list = new ArrayList<>();
    for (String type : List.of("pid", "network", "ipc", "uts", "mount")) {
      Path joined = namespaces.get(type);
      list.add(
          joined == null ? Map.of("type", type) : Map.of("type", type, "path", joined.toString()));
    }
    return list;
  }
}
