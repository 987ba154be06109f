package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.List;

/** {@code kubectl stasis explain POD}: whether it could be frozen, and the consequences. */
public final class Explanation {

  private final Resource checkpoint;

  /** Reads a finished GpuCheckpoint with dryRun. */
  public Explanation(Resource checkpoint) {
    this.checkpoint = checkpoint;
  }

  /** Whether nothing prevents it. */
  public boolean isFeasible() {
    return checkpoint.is("Feasible");
  }

  /** As text, without a line break at its end. */
  public String text() {
    List<String> lines = new ArrayList<>();
    String pod = checkpoint.text("spec.podRef.name");
    lines.add(pod + (isFeasible() ? " can be frozen." : " cannot be frozen:"));
    if (!isFeasible()) {
      against().forEach(sentence -> lines.add("  - " + sentence));
    }
    Resource explanation = checkpoint.at("status.explanation");
    List<Resource> bound = explanation.list("notPortable");
    if (isFeasible() && !bound.isEmpty()) {
      lines.add("It cannot be restored in another pod, so it cannot be evicted or migrated:");
      bound.forEach(fault -> lines.add("  - " + Course.sentence(fault)));
    }
    add(lines, "size", explanation.text("expectedSize"));
    add(lines, "frozen for", explanation.text("expectedFrozen"));
    String path = explanation.text("dataPath");
    String why = explanation.text("dataPathReason");
    add(lines, "data path", path.isEmpty() || why.isEmpty() ? path : path + ": " + why);
    List<String> others = checkpoint.texts("status.otherContainers");
    add(lines, "would restart", String.join(", ", others));
    nodes(lines);
    return String.join("\n", lines);
  }

  private List<String> against() {
    List<String> faults =
        checkpoint.list("status.explanation.faults").stream()
            .map(Course::sentence)
            .distinct()
            .toList();
    return faults.isEmpty() ? new Course(checkpoint).reasons() : faults;
  }

  private void nodes(List<String> lines) {
    if (checkpoint.text("status.nodesKnown").isEmpty()) {
      return;
    }
    add(
        lines,
        "restorable on",
        checkpoint.number("status.nodesFit")
            + " of "
            + checkpoint.number("status.nodesKnown")
            + " nodes");
    for (Resource node : checkpoint.list("status.nodes")) {
      lines.add(
          "    "
              + node.text("node")
              + (node.isTrue("fits") ? "" : ": " + String.join("; ", node.texts("reasons"))));
    }
  }

  private static void add(List<String> lines, String what, String value) {
    if (!value.isEmpty()) {
      lines.add("  " + what + ": " + value);
    }
  }
}
