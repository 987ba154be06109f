package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Words;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * {@code kubectl stasis store ls STORE}: one line per artifact.
 *
 * @param namespaces whether the namespace is shown
 */
public record ArtifactTable(boolean namespaces) implements Columns {

  @Override
  public List<String> header() {
    List<String> header =
        List.of("NAMESPACE", "CHECKPOINT", "LOGICAL", "STORED", "NEW", "NODE", "VERIFIED", "STATE");
    return header.subList(namespaces ? 0 : 1, header.size());
  }

  @Override
  public Comparator<Resource> order() {
    return Comparator.comparing(Resource::namespace).thenComparing(Resource::name);
  }

  @Override
  public List<String> row(Resource checkpoint, Instant now) {
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
    return cells.subList(namespaces ? 0 : 1, cells.size());
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
