package dev.stasis.local.kubelet;

import dev.stasis.local.host.HostProgram;
import dev.stasis.local.host.Loopback;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The namespaces that the containers of a pod share: network, UTS and IPC, with a /dev/shm. Bind
 * mounts hold them, so no process is needed. The network has only a loopback.
 */
final class Sandbox {

  private static final Map<String, String> OPTIONS =
      Map.of("network", "--net", "ipc", "--ipc", "uts", "--uts");

  private final Path folder;
  private final HostProgram host;
  private final Loopback loopback = new Loopback();

  Sandbox(Path folder, HostProgram host) {
    this.folder = folder;
    this.host = host;
  }

  void make(String hostname) throws IOException {
    Files.createDirectories(shm());
    host.must("mount", "-t", "tmpfs", "-o", "mode=1777,size=64m", "shm", shm().toString());
    StringBuilder files = new StringBuilder();
    for (Map.Entry<String, Path> namespace : namespaces().entrySet()) {
      Files.createFile(namespace.getValue());
      files.append(' ').append(OPTIONS.get(namespace.getKey())).append("=\"$1/");
      files.append(namespace.getKey()).append('"');
    }
    host.must(
        "sh",
        "-c",
        "exec unshare" + files + " sh -c 'hostname \"$1\"' sh \"$2\"",
        "sh",
        folder.toString(),
        hostname);
    loopback.up(folder.resolve("network"));
  }

  /** By type, in runc's terms. */
  Map<String, Path> namespaces() {
    Map<String, Path> files = new LinkedHashMap<>();
    for (String type : OPTIONS.keySet()) {
      files.put(type, folder.resolve(type));
    }
    return files;
  }

  Path shm() {
    return folder.resolve("shm");
  }

  /** Also for one that was created partially. */
  void remove() {
    for (Path file : namespaces().values()) {
      host.attempt("umount", "-l", file.toString());
    }
    host.attempt("umount", "-l", shm().toString());
  }
}
