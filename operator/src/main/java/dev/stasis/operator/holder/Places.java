package dev.stasis.operator.holder;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Placement;
import dev.stasis.operator.explain.Candidate;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.target.FrozenPod;
import dev.stasis.operator.target.Image;
import dev.stasis.operator.target.SideLoaded;
import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes on which a workload can be restored: those that are compatible and satisfy the user's
 * selection, the location of its artifact and its image.
 *
 * @param candidates evaluates the nodes; remembers their reports
 */
public record Places(Collection<GpuNode> gpuNodes, Collection<Node> nodes, Candidates candidates) {

  /**
   * Returns what currently prevents a restore on each node. A busy GPU does not, because the
   * scheduler waits for it.
   */
  public NodeVerdicts verdicts(
      Sought sought, @Nullable Target asked, Map<String, String> excluded, Instant now) {
    Map<String, Node> byName =
        nodes.stream()
            .collect(Collectors.toMap(node -> node.getMetadata().getName(), node -> node));
    Image image = image(sought);
    List<Candidate> judged =
        candidates.of(gpuNodes, nodes, now).stream()
            .map(
                candidate -> {
                  List<String> against = new ArrayList<>(candidate.against());
                  asked(candidate.name(), byName, asked, against);
                  artifact(candidate.name(), sought, against);
                  image(candidate.name(), image, against);
                  String why = excluded.get(candidate.name());
                  if (why != null) {
                    against.add(why);
                  }
                  return new Candidate(candidate.name(), candidate.facts(), against);
                })
            .toList();
    return NodeVerdicts.of(sought.wanted(), judged);
  }

  /** Returns the same as node affinity, for the scheduler. */
  private Placement placement(Sought sought, Instant now) {
    List<NodeFacts> facts =
        candidates.of(gpuNodes, nodes, now).stream().map(Candidate::facts).toList();
    return Placement.of(sought.wanted(), facts);
  }

  /**
   * Returns the facts for a target.
   *
   * @param checkpoint name of the object that has the artifact
   * @param saved time of the saved state; null before a migration
   * @param started when the workload started; null if that is unknown
   * @param argv command line of the workload
   * @param others the policy for the other containers of the pod
   */
  public FrozenPod frozen(
      Sought sought,
      String checkpoint,
      @Nullable Instant saved,
      @Nullable Instant started,
      List<String> argv,
      SidecarPolicy others,
      Instant now) {
    return new FrozenPod(
        checkpoint,
        saved,
        started,
        sought.pod(),
        sought.container(),
        argv,
        image(sought),
        sought.node(),
        placement(sought, now),
        others);
  }

  /** Returns the image, with the nodes that may have it if no registry has it. */
  private Image image(Sought sought) {
    if (sought.image().contains("@")) {
      return new Image.ByDigest(sought.image());
    }
    SortedSet<String> having = new TreeSet<>();
    if (!sought.node().isEmpty()) {
      having.add(sought.node());
    }
    Optional<String> name = new SideLoaded(sought.pod(), sought.container()).name();
    // Nodes list images by name, not by id; the kubelet reports a different id.
    for (Node node : nodes) {
      if (name.filter(wanted -> lists(node, wanted)).isPresent()) {
        having.add(node.getMetadata().getName());
      }
    }
    return new Image.ById(sought.image(), having);
  }

  private static boolean lists(Node node, String image) {
    List<ContainerImage> images =
        node.getStatus() == null ? List.of() : node.getStatus().getImages();
    return images.stream()
        // An image is listed without a name after its tag has moved.
        .flatMap(listed -> Stream.ofNullable(listed.getNames()).flatMap(List::stream))
        .anyMatch(name -> name.equals(image) || name.endsWith("/" + image));
  }

  private static void asked(
      String node, Map<String, Node> byName, @Nullable Target target, List<String> against) {
    if (target == null) {
      return;
    }
    if (target.nodeName() != null && !target.nodeName().equals(node)) {
      against.add("target.nodeName: expected " + target.nodeName() + ", got " + node);
    }
    Node known = byName.get(node);
    Map<String, String> labels = known == null ? Map.of() : Marks.labels(known);
    Objects.requireNonNullElse(target.nodeSelector(), Map.<String, String>of())
        .forEach(
            (key, value) -> {
              if (!value.equals(labels.get(key))) {
                against.add(
                    "target.nodeSelector["
                        + key
                        + "]: expected "
                        + value
                        + ", got "
                        + labels.getOrDefault(key, "none"));
              }
            });
  }

  private static void artifact(String node, Sought sought, List<String> against) {
    String holds = sought.only();
    if (holds != null && !holds.equals(node)) {
      against.add("artifact: expected node " + holds + ", whose disk holds it, got " + node);
    }
  }

  private static void image(String node, Image image, List<String> against) {
    if (image instanceof Image.ById byId && !byId.nodes().contains(node)) {
      against.add(
          "image: expected one of " + byId.nodes() + ", which have " + byId.id() + ", got " + node);
    }
  }
}
