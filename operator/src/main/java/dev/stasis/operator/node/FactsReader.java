package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.GpuLink;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Gpu;
import dev.stasis.compat.GpuSet;
import dev.stasis.compat.Link;
import dev.stasis.compat.Links;
import dev.stasis.compat.NodeFacts;
import dev.stasis.operator.cluster.RecentMap;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Converts an agent's report on its node into the terms in which nodes are compared. */
public final class FactsReader {

  private static final long MIB = 1L << 20;

  /** A pair that the agent does not report counts as the weakest link. */
  private static final Link WEAKEST = Link.of(Link.Kind.SYS);

  /** More kinds of nodes than most clusters have. */
  private static final int REMEMBERED = 64;

  /** In characters; that of an ordinary node has 2,000. A longer one is not remembered. */
  private static final int LONGEST = 8_192;

  /** By their text, which is the same on nodes of one kind. Parsing takes most of the time. */
  private final RecentMap<String, Fingerprint> parsed = new RecentMap<>(REMEMBERED);

  /** Clusters with more nodes work too; their nodes are read more often. */
  private static final int MOST_NODES = 8_192;

  /** The last reading of each node, by name. A report of the agent replaces the object. */
  private final RecentMap<String, Last> last = new RecentMap<>(MOST_NODES);

  /** Far more kinds of nodes than a cluster has. */
  private static final int KINDS = 1_024;

  /** Nodes of one kind share their facts, which are compared with a workload once. */
  private final RecentMap<NodeFacts, Facts> kinds = new RecentMap<>(KINDS);

  /**
   * A reading.
   *
   * @param node the object that was read; objects of the caches never change
   */
  private record Last(WeakReference<GpuNode> node, Reading reading) {}

  /** The result. */
  public sealed interface Reading {}

  /**
   * The offer of the node.
   *
   * @param facts in the terms of compat
   */
  public record Facts(NodeFacts facts) implements Reading {}

  /**
   * The report cannot be evaluated.
   *
   * @param sentence the property, the expected and the actual value
   */
  public record Unreadable(String sentence) implements Reading {}

  /** Reads the report. A node without GPUs has zero GPUs; it is not unreadable. */
  public Reading read(GpuNode node) {
    String name = node.getMetadata().getName();
    Optional<Last> known = last.get(name).filter(it -> it.node().refersTo(node));
    if (known.isPresent()) {
      return known.get().reading();
    }
    Reading reading = evaluate(node);
    last.put(name, new Last(new WeakReference<>(node), reading));
    return reading;
  }

  private Reading evaluate(GpuNode node) {
    GpuNodeStatus status = node.getStatus();
    if (status == null || status.getHost() == null) {
      return new Unreadable("status.host: expected the agent's observations, got none yet");
    }
    NodeHost host = status.getHost();
    List<NodeGpu> gpus = Objects.requireNonNullElse(status.getGpus(), List.of());
    String fingerprint = Objects.requireNonNullElse(host.getFingerprint(), "");
    if (fingerprint.isBlank()) {
      return new Unreadable("status.host.fingerprint: expected lines like gpu.count=1, got none");
    }
    if (!gpus.isEmpty() && host.getDriver() == null) {
      return new Unreadable("status.host.driver: expected the driver's version, got none");
    }
    try {
      String driver = Objects.requireNonNullElse(host.getDriver(), "none");
      GpuSet set =
          new GpuSet(
              driver,
              gpus.stream().map(FactsReader::gpu).toList(),
              links(gpus, Objects.requireNonNullElse(status.getLinks(), List.of())));
      return shared(new NodeFacts(set, parsed(fingerprint)));
    } catch (IllegalArgumentException e) {
      return new Unreadable("status: " + e.getMessage());
    }
  }

  /** Returns whether both reports have the same facts. Cheaper than reading them. */
  public boolean isSame(GpuNode one, GpuNode other) {
    return source(one).equals(source(other));
  }

  /** Returns everything that {@link #read} uses. */
  private static Object source(GpuNode node) {
    GpuNodeStatus status = node.getStatus();
    if (status == null || status.getHost() == null) {
      return List.of();
    }
    NodeHost host = status.getHost();
    return Arrays.asList(
        host.getDriver(), host.getFingerprint(), status.getGpus(), status.getLinks());
  }

  private Facts shared(NodeFacts facts) {
    return kinds
        .get(facts)
        .orElseGet(
            () -> {
              Facts first = new Facts(facts);
              kinds.put(facts, first);
              return first;
            });
  }

  private Fingerprint parsed(String text) {
    return parsed.get(text).orElseGet(() -> parse(text));
  }

  private Fingerprint parse(String text) {
    Fingerprint read = Fingerprint.parse(text);
    if (text.length() <= LONGEST) {
      parsed.put(text, read);
    }
    return read;
  }

  private static Gpu gpu(NodeGpu gpu) {
    Long memory = gpu.memoryBytes();
    return new Gpu(
        said("model", gpu, gpu.model()),
        (memory == null ? 0 : memory) / MIB,
        said("computeCapability", gpu, gpu.computeCapability()),
        Boolean.TRUE.equals(gpu.mig()));
  }

  private static String said(String property, NodeGpu gpu, @Nullable String value) {
    if (value == null) {
      throw new IllegalArgumentException(
          "gpus[" + gpu.uuid() + "]." + property + ": expected a value, got none");
    }
    return value;
  }

  private static Links links(List<NodeGpu> gpus, List<GpuLink> links) {
    Map<Set<String>, Link> known = new HashMap<>();
    for (GpuLink link : links) {
      if (!link.first().equals(link.second())) {
        known.put(Set.of(link.first(), link.second()), Link.parse(link.link()));
      }
    }
    return Links.of(
        gpus.size(),
        (one, other) -> {
          String first = gpus.get(one).uuid();
          String second = gpus.get(other).uuid();
          return first.equals(second)
              ? WEAKEST
              : known.getOrDefault(Set.of(first, second), WEAKEST);
        });
  }
}
