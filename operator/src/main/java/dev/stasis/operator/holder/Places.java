package dev.stasis.operator.holder;

import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Placement;
import dev.stasis.operator.explain.Candidate;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.Candidates;
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
 * Where a workload can come back: the nodes that are compatible, within what the user asks, the
 * place of its artifact and the image leave.
 *
 * @param gpuNodes what the agents published
 * @param nodes the nodes of the cluster
 */
public record Places(Collection<GpuNode> gpuNodes, Collection<Node> nodes) {

  /** What stands against each node now; a busy GPU does not, since the scheduler waits for it. */
  public NodeVerdicts verdicts(
      Sought sought, @Nullable Target asked, Map<String, String> excluded, Instant now) {
    Map<String, Node> byName =
        nodes.stream()
            .collect(Collectors.toMap(node -> node.getMetadata().getName(), node -> node));
    Image image = image(sought);
    List<Candidate> candidates =
        new Candidates()
            .of(gpuNodes, nodes, now).stream()
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
    return NodeVerdicts.of(sought.wanted(), candidates);
  }

  /** The same in terms of node labels, for the scheduler. */
  public Placement placement(Sought sought, Instant now) {
    List<NodeFacts> facts =
        new Candidates().of(gpuNodes, nodes, now).stream().map(Candidate::facts).toList();
    return Placement.of(sought.wanted(), facts);
  }

  /** The image, with the nodes that may have it when no registry does. */
  public Image image(Sought sought) {
    if (sought.image().contains("@")) {
      return new Image.ByDigest(sought.image());
    }
    SortedSet<String> having = new TreeSet<>();
    if (!sought.node().isEmpty()) {
      having.add(sought.node());
    }
    Optional<String> name = new SideLoaded(sought.pod(), sought.container()).name();
    // Nodes list images by name, not by id; the kubelet says when it was another one.
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
        // An image whose tag has moved on is listed without any name.
        .flatMap(listed -> Stream.ofNullable(listed.getNames()).flatMap(List::stream))
        .anyMatch(name -> name.equals(image) || name.endsWith("/" + image));
  }

  private static void asked(
      String node, Map<String, Node> byName, @Nullable Target target, List<String> against) {
    if (target == null) {
      return;
    }
    if (target.nodeName() != null && !target.nodeName().equals(node)) {
      against.add("target.nodeName: wanted " + target.nodeName() + ", found " + node);
    }
    Node known = byName.get(node);
    Map<String, String> labels =
        known == null || known.getMetadata().getLabels() == null
            ? Map.of()
            : known.getMetadata().getLabels();
    Objects.requireNonNullElse(target.nodeSelector(), Map.<String, String>of())
        .forEach(
            (key, value) -> {
              if (!value.equals(labels.get(key))) {
                against.add(
                    "target.nodeSelector["
                        + key
                        + "]: wanted "
                        + value
                        + ", found "
                        + labels.getOrDefault(key, "none"));
              }
            });
  }

  private static void artifact(String node, Sought sought, List<String> against) {
    String holds = sought.only();
    if (holds != null && !holds.equals(node)) {
      against.add("artifact: wanted node " + holds + ", whose disk holds it, found " + node);
    }
  }

  private static void image(String node, Image image, List<String> against) {
    if (image instanceof Image.ById byId && !byId.nodes().contains(node)) {
      against.add(
          "image: wanted one of " + byId.nodes() + ", which have " + byId.id() + ", found " + node);
    }
  }
}
