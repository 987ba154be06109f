package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * How a pod is frozen: the fields of a GpuCheckpoint that explain, suspend and checkpoint share.
 */
final class FreezeOptions {

  enum Probes {
    FAIL("Fail"),
    EMULATE("Emulate");

    final String word;

    Probes(String word) {
      this.word = word;
    }
  }

  enum Tcp {
    RESTORE("Restore"),
    CLOSE("Close");

    final String word;

    Tcp(String word) {
      this.word = word;
    }
  }

  @Option(
      names = {"-c", "--container"},
      paramLabel = "NAME",
      description = "container; default: the only one with GPUs")
  @Nullable String container;

  @Option(
      names = "--store",
      paramLabel = "NAME",
      description = "GpuCheckpointStore; default: the default one")
  @Nullable String store;

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      description = "undoes everything after that time; default: 30m")
  @Nullable String deadline;

  @Option(
      names = "--probes",
      paramLabel = "fail|emulate",
      description = "liveness probes that are too short for the freeze: fail, or answer them")
  @Nullable Probes probes;

  @Option(
      names = "--tcp",
      paramLabel = "restore|close",
      description = "connections that are open; default: close")
  @Nullable Tcp tcp;

  @Option(names = "--no-resize", description = "refuses where the pod's memory limit is too small")
  boolean noResize;

  @Option(
      names = "--restart-sidecars",
      description = "allows other containers, which start from their images in a restored pod")
  boolean restartsSidecars;

  @Option(
      names = "--nothing-shared",
      description = "connected processes share no GPU memory; one that does would be lost")
  boolean nothingShared;

  void write(ObjectNode spec) {
    if (store != null) {
      spec.putObject("storageRef").put("name", store);
    }
    ObjectNode options = spec.withObjectProperty("options");
    put(options, "containerName", container);
    put(options, "deadline", deadline);
    put(options, "probePolicy", probes == null ? null : probes.word);
    put(options, "tcpConnections", tcp == null ? null : tcp.word);
    put(options, "memoryLimitPolicy", noResize ? "Fail" : null);
    put(options, "sidecarPolicy", restartsSidecars ? "Restart" : null);
    put(options, "sharing", nothingShared ? "None" : null);
    if (options.isEmpty()) {
      spec.remove("options");
    }
  }

  private static void put(ObjectNode spec, String field, @Nullable String value) {
    if (value != null) {
      spec.put(field, value);
    }
  }
}
