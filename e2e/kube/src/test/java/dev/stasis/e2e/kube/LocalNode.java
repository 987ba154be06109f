package dev.stasis.e2e.kube;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node that runs on this very machine, as the script {@code kube} starts it.
 *
 * @param name of the Node
 * @param folder state of its kubelet and containerd
 * @param criSocket of its containerd
 * @param cdi folder of its CDI specifications
 * @param kube the script
 */
record LocalNode(String name, Path folder, Path criSocket, Path cdi, String kube) {

  /** Those that the environment tells of; none when the cluster is elsewhere. */
  static List<LocalNode> fromEnvironment(Map<String, String> environment, Checkout checkout) {
    String kube =
        environment.getOrDefault(
            "STASIS_KUBE", checkout.root().resolve("../shared/kube/kube").normalize().toString());
    return Stream.of("node1", "node2")
        .flatMap(
            name -> {
              String prefix = "KUBE_" + name.toUpperCase(java.util.Locale.ROOT) + "_";
              @Nullable String folder = environment.get(prefix + "DIR");
              @Nullable String socket = environment.get(prefix + "SOCKET");
              @Nullable String cdi = environment.get(prefix + "CDI");
              return folder == null || socket == null || cdi == null
                  ? Stream.empty()
                  : Stream.of(
                      new LocalNode(name, Path.of(folder), Path.of(socket), Path.of(cdi), kube));
            })
        .toList();
  }

  Path podResourcesSocket() {
    return folder.resolve("kubelet/pod-resources/kubelet.sock");
  }
}
