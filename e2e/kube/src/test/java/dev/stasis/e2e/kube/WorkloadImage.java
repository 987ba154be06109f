package dev.stasis.e2e.kube;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * An image made of this machine's files: gpu-counter with the C library, and a busybox by which a
 * test looks around and kills. It is loaded by hand into the nodes and in no registry, so it has no
 * repo digest.
 */
final class WorkloadImage {

  static final String NAME = "stasis.test/gpu-counter:e2e";

  private static final Path LIBRARIES = Path.of("/lib/x86_64-linux-gnu");
  private static final Path LOADER = Path.of("/lib64/ld-linux-x86-64.so.2");

  private final Checkout checkout;
  private final Path folder;
  private final String name;
  private final Map<String, Path> programs;

  WorkloadImage(Checkout checkout, Path folder) {
    this(checkout, folder, NAME, Map.of());
  }

  /** One with further programs, by their paths without the leading slash. */
  WorkloadImage(Checkout checkout, Path folder, String name, Map<String, Path> programs) {
    this.checkout = checkout;
    this.folder = folder;
    this.name = name;
    this.programs = Map.copyOf(programs);
  }

  /** Writes it as an OCI image tar. */
  Path write(Path busybox) throws IOException {
    Path root = folder.resolve("layer");
    for (String each :
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
            LIBRARIES.toString().substring(1),
            SimulatedNode.LIBRARIES.substring(1))) {
      Files.createDirectories(root.resolve(each));
    }
    Files.copy(
        checkout.built("sim-gpu/target/gpu-counter", "make -C sim-gpu"),
        root.resolve("bin/gpu-counter"));
    Files.copy(busybox, root.resolve("bin/busybox"));
    for (String applet : List.of("sh", "cat", "ls", "ps", "kill", "killall", "sleep", "true")) {
      Files.createSymbolicLink(root.resolve("bin/" + applet), Path.of("busybox"));
    }
    for (String library : List.of("libc.so.6", "libdl.so.2", "libpthread.so.0")) {
      Path source = LIBRARIES.resolve(library);
      if (Files.exists(source)) {
        Files.copy(
            source.toRealPath(), root.resolve(LIBRARIES.toString().substring(1)).resolve(library));
      }
    }
    for (Map.Entry<String, Path> program : programs.entrySet()) {
      Path place = root.resolve(program.getKey());
      Files.createDirectories(place.getParent());
      // Without following the link of an applet.
      Files.deleteIfExists(place);
      Files.copy(program.getValue(), place);
    }
    Files.copy(LOADER.toRealPath(), root.resolve("lib64/ld-linux-x86-64.so.2"));
    Files.writeString(root.resolve("etc/passwd"), "root:x:0:0:root:/:/bin/sh\n");
    Path config = folder.resolve("config.json");
    Files.writeString(
        config,
        """
        {"Env": ["PATH=/bin", "LD_LIBRARY_PATH=%s"], "Cmd": ["/bin/gpu-counter"]}
        """
            .formatted(SimulatedNode.LIBRARIES));
    Path tar = folder.resolve("workload.tar");
    new Shell(Map.of())
        .must(
            checkout.built("images/lib/oci-tar", "git checkout").toString(),
            tar.toString(),
            name,
            config.toString(),
            root.toString());
    return tar;
  }
}
