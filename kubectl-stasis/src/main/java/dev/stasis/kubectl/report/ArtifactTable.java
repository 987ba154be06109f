package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Table;
import dev.stasis.kubectl.screen.Words;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * {@code kubectl stasis store ls STORE}: one line per artifact.
 *
 * @param namespaces whether the namespace is shown
 */
public record ArtifactTable(boolean namespaces) {

  /** Returns the table. */
  public String text(List<Resource> checkpoints, Instant now) {
    Table table =
        namespaces
            ? new Table(
                "NAMESPACE", "CHECKPOINT", "LOGICAL", "STORED", "NEW", "NODE", "VERIFIED", "STATE")
            : new Table("CHECKPOINT", "LOGICAL", "STORED", "NEW", "NODE", "VERIFIED", "STATE");
    checkpoints.stream()
        .sorted(Comparator.comparing(Resource::namespace).thenComparing(Resource::name))
        .forEach(one -> table.add(cells(one, now)));
    return table.toString();
  }

  private String[] cells(Resource checkpoint, Instant now) {
    Resource artifact = checkpoint.at("status.artifact");
    List<String> cells =
        List.of(
            checkpoint.namespace(),
            checkpoint.name(),
            Words.size(artifact.number("bytes")),
            Words.size(artifact.number("storedBytes")),
            Words.size(artifact.number("newBytes")),
            artifact.text("node"),
            Words.age(checkpoint.time("status.lastVerified"), now),
            state(checkpoint));
    return cells.subList(namespaces ? 0 : 1, cells.size()).toArray(String[]::new);
  }

  private static String state(Resource checkpoint) {
    String restorable = checkpoint.condition("Restorable").text("reason");
    if (restorable.equals("ArtifactDamaged")) {
      return restorable;
    }
    Resource stored = checkpoint.condition("Stored");
    return stored.text("status").equals("False") ? stored.text("reason") : "Stored";
  }
}
