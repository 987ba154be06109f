package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.artifact.NodeFacts;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/** What an artifact needs to know of the node under the workload. */
public final class NodeFactsReader {

  private final Path proc;
  private final String criuVersion;

  /**
   * Of a node.
   *
   * @param proc /proc
   * @param criuVersion what criu says of itself
   */
  public NodeFactsReader(Path proc, String criuVersion) {
    this.proc = proc;
    this.criuVersion = criuVersion;
  }

  /** What a manifest says of the node. */
  public NodeFacts read(NodeGpus gpus) {
    return new NodeFacts(
        text("sys/kernel/hostname"),
        text("sys/kernel/osrelease"),
        System.getProperty("os.arch", "unknown").replace("amd64", "x86_64"),
        cpuFeatures(),
        criuVersion,
        gpus.driverVersion().isEmpty() ? null : gpus.driverVersion(),
        gpus.cudaVersion() == 0 ? null : gpus.cudaVersion());
  }

  /**
   * The same in the terms in which places are compared: what a node offers, or wants of another.
   */
  public Fingerprint host(NodeFacts facts) {
    return Fingerprint.empty()
        .with(
            Property.CPU_ARCHITECTURE,
            facts.architecture().replace("x86_64", "amd64").replace("aarch64", "arm64"))
        .with(Property.CPU_FEATURES, facts.cpuFeatures())
        .with(Property.CRIU_VERSION, facts.criuVersion())
        .with(Property.TIME_NAMESPACES, hasTimeNamespaces() ? "yes" : "no");
  }

  /** Whether the kernel has time namespaces. */
  public boolean hasTimeNamespaces() {
    return Files.exists(proc.resolve("self/ns/time"));
  }

  /** The flags of the first CPU; all CPUs of a machine have the same. */
  Set<String> cpuFeatures() {
    Set<String> features = new TreeSet<>();
    text("cpuinfo")
        .lines()
        .filter(line -> line.startsWith("flags") || line.startsWith("Features"))
        .findFirst()
        .ifPresent(
            line ->
                features.addAll(
                    Arrays.asList(line.substring(line.indexOf(':') + 1).trim().split("\\s+"))));
    return features;
  }

  private String text(String name) {
    try {
      return Files.readString(proc.resolve(name)).trim();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + proc.resolve(name), e);
    }
  }
}
