package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * How a pod is frozen: the fields of a GpuCheckpoint that explain, suspend and checkpoint share.
 */
final class FreezeOptions {

  enum Liveness {
    REFUSE("Refuse"),
    ANSWER("Answer");

    final String word;

    Liveness(String word) {
      this.word = word;
    }
  }

  enum Tcp {
    KEEP("Keep"),
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
      names = "--liveness",
      paramLabel = "refuse|answer",
      description = "probes that are too short for the freeze: refuse, or answer them meanwhile")
  @Nullable Liveness liveness;

  @Option(
      names = "--tcp",
      paramLabel = "keep|close",
      description = "connections that are open; default: close")
  @Nullable Tcp tcp;

  @Option(names = "--no-resize", description = "refuses where the pod's memory limit is too small")
  boolean noResize;

  @Option(
      names = "--other-containers-start-anew",
      description = "allows other containers, which start anew in a restored pod")
  boolean othersStartAnew;

  @Option(
      names = "--nothing-shared",
      description = "connected processes share no GPU memory; one that does would be lost")
  boolean nothingShared;

  void write(ObjectNode spec) {
    put(spec, "containerName", container);
    put(spec, "store", store);
    put(spec, "deadline", deadline);
    put(spec, "livenessPolicy", liveness == null ? null : liveness.word);
    put(spec, "tcp", tcp == null ? null : tcp.word);
    put(spec, "memoryRoom", noResize ? "Refuse" : null);
    put(spec, "otherContainers", othersStartAnew ? "StartAnew" : null);
    put(spec, "sharing", nothingShared ? "None" : null);
  }

  private static void put(ObjectNode spec, String field, @Nullable String value) {
    if (value != null) {
      spec.put(field, value);
    }
  }
}
