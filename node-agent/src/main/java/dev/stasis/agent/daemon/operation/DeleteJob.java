package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.sweep.SweepMark;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Objects;
import java.util.Optional;

/**
 * DeleteArtifact: one that is not there is deleted already; one that belongs to another object, or
 * from which a frozen workload lives, is refused.
 */
final class DeleteJob implements Job {

  private final AgentParts parts;
  private final Desk desk;

  DeleteJob(AgentParts parts, Desk desk) {
    this.parts = parts;
    this.desk = desk;
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference artifact = Objects.requireNonNull(assignment.spec().getArtifact());
    ArtifactPlace where = new ArtifactPlaces(parts.stores()).of(artifact, artifact.namespace());
    if (!Files.exists(where.path(), LinkOption.NOFOLLOW_LINKS)) {
      return Ending.done("Deleted", "there was no artifact at " + artifact.location());
    }
    OwnArtifact.requireDeletable(artifact, where.path());
    Optional<String> use = parts.engine().artifactUse().of(where.path());
    if (use.isPresent()) {
      throw new Refused(
          Faults.of(
              "Busy",
              "work in hand that needs artifact " + artifact.location(),
              "none",
              use.get()));
    }
    desk.begin(assignment);
    try {
      new ArtifactStore(where.folder(), parts.clock()).delete(where.name());
      new SweepMark(where.path()).remove();
      return Ending.done("Deleted", "artifact " + artifact.location() + " is deleted");
    } catch (IOException e) {
      return Ending.failed(
          dev.stasis.api.v1alpha1.operation.Outcome.NOT_UNDONE,
          Faults.inStep("StoreFailed", "delete", String.valueOf(e.getMessage())));
    }
  }
}
