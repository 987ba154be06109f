package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
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
      description = "container; default: the only container with GPUs")
  @Nullable String container;

  @Option(
      names = "--store",
      paramLabel = "NAME",
      description = "GpuCheckpointStore; default: the default store")
  @Nullable String store;

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      description = "rolls everything back after this time; default: 30m")
  @Nullable String deadline;

  @Option(
      names = "--probes",
      paramLabel = "fail|emulate",
      description =
          "liveness probes that allow less time than the freeze: refuse the checkpoint, or"
              + " answer them")
  @Nullable Probes probes;

  @Option(
      names = "--tcp",
      paramLabel = "restore|close",
      description = "open TCP connections; default: close")
  @Nullable Tcp tcp;

  @Option(
      names = "--no-resize",
      description = "refuses the checkpoint if the pod's memory limit is too small")
  boolean noResize;

  @Option(
      names = "--restart-sidecars",
      description = "allows other containers; they start from their images in the restored pod")
  boolean restartsSidecars;

  @Option(
      names = "--nothing-shared",
      description =
          "declares that connected processes share no GPU memory; if they do, the workload is lost")
  boolean nothingShared;

  /** Returns whether none is given. */
  boolean isEmpty() {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    write(spec);
    return spec.isEmpty();
  }

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
