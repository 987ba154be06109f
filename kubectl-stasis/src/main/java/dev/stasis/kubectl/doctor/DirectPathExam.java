package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Looks at the pods that ask for the direct data path: whether they get it, and why not. */
final class DirectPathExam {

  private static final String LIBRARY = "libstasis-gate.so";

  private final Facts facts;

  DirectPathExam(Facts facts) {
    this.facts = facts;
  }

  List<Finding> findings() {
    List<Finding> found = new ArrayList<>();
    for (Resource pod : facts.direct()) {
      boolean ended = List.of("Succeeded", "Failed").contains(pod.text("status.phase"));
      if (pod.kind().equals(Kind.POD.value()) && !ended && usesGpu(pod)) {
        found.add(finding(pod));
      }
    }
    return found;
  }

  private Finding finding(Resource pod) {
    String node = pod.text("spec.nodeName");
    String where = node.isEmpty() ? Finding.CLUSTER : node;
    String title = "pod " + pod.namespace() + "/" + pod.name() + ": ";
    if (!hasLibrary(pod)) {
      String kept = pod.annotation("stasis.dev/prepared");
      return Finding.warning(
          where,
          title + "expected the library of the direct data path, got none",
          kept.contains("/LD_PRELOAD")
              ? "its container sets LD_PRELOAD itself or has envFrom: see docs/direct-path.md"
              : "recreate it: it was started before it had the label, or the operator's webhook"
                  + " did not answer");
    }
    Optional<Resource> last = lastCheckpoint(pod);
    String path = last.map(it -> it.text("status.dataPath")).orElse("");
    if (last.isPresent() && !path.isEmpty() && !path.equals("Direct")) {
      return Finding.warning(
          where,
          "%slast checkpoint %s: expected data path Direct, got %s: %s"
              .formatted(title, last.get().name(), path, last.get().text("status.dataPathReason")),
          "kubectl stasis explain "
              + pod.name()
              + " -n "
              + pod.namespace()
              + " shows this in advance");
    }
    boolean noKeeper =
        facts.gpuNodes().stream()
            .filter(each -> each.name().equals(node))
            .flatMap(each -> each.list("status.missing").stream())
            .anyMatch(each -> each.text("reason").equals("NoKeeper"));
    return noKeeper
        ? Finding.problem(
            where,
            title + "expected stasis-keeper on its node, got none",
            "its checkpoints are refused: restore the agent's image or stasis.agent.keeper")
        : Finding.well(where, title + "data path Direct");
  }

  private Optional<Resource> lastCheckpoint(Resource pod) {
    return facts.direct().stream()
        .filter(one -> one.kind().equals(Kind.CHECKPOINT.value()))
        .filter(one -> one.namespace().equals(pod.namespace()))
        .filter(one -> one.text("spec.podRef.name").equals(pod.name()))
        .max(Comparator.comparing(one -> one.text("metadata.creationTimestamp")));
  }

  private static boolean hasLibrary(Resource pod) {
    return pod.list("spec.containers").stream()
        .flatMap(container -> container.list("env").stream())
        .anyMatch(
            variable ->
                variable.text("name").equals("LD_PRELOAD")
                    && variable.text("value").endsWith("/" + LIBRARY));
  }

  private static boolean usesGpu(Resource pod) {
    return pod.list("spec.containers").stream()
        .anyMatch(
            container -> {
              String limits = container.at("resources.limits").json().toString();
              return limits.contains("nvidia.com/")
                  || !container.list("resources.claims").isEmpty();
            });
  }
}
