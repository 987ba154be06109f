package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.TransferOrder;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Receive: takes an artifact that another agent streams, also one that is still being made and has
 * no digest yet. Nobody sees it before all of it is there and right.
 */
final class ReceiveJob implements Job {

  /** How often the bytes are looked at: as often as they may be written. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  /** Of a file system: a twentieth, for those who write beside it. */
  private static final int KEPT_FREE = 20;

  private final AgentParts parts;
  private final Desk desk;

  ReceiveJob(AgentParts parts, Desk desk) {
    this.parts = parts;
    this.desk = desk;
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference artifact = Objects.requireNonNull(assignment.spec().getArtifact());
    TransferOrder order = Objects.requireNonNull(assignment.spec().getTransfer());
    String sha256 = artifact.sha256();
    if (sha256 == null && !Boolean.TRUE.equals(order.getAhead())) {
      throw new Refused(Faults.of("ArtifactRefused", "artifact.sha256", "a digest", "none"));
    }
    ArtifactPlace where = new ArtifactPlaces(parts.stores()).of(artifact, artifact.namespace());
    if (Files.exists(where.path(), LinkOption.NOFOLLOW_LINKS)) {
      return alreadyThere(artifact, where, sha256);
    }
    where.makeFolder();
    desk.begin(assignment);
    try (ArtifactStage stage =
            new ArtifactStore(where.folder(), parts.clock()).stage(where.name());
        StreamReceiver.Expected expected =
            parts
                .transfers()
                .receiver()
                .expect(
                    order.getId(),
                    order.getPeer().certificate(),
                    stage.folder(),
                    room(stage.folder()))) {
      desk.say(assignment, status -> status.setListening(parts.transfers().listening()));
      String failure = await(assignment, expected);
      if (!failure.isEmpty()) {
        String reason = assignment.isCancelled() ? "Cancelled" : "TransferFailed";
        return Ending.failed(Outcome.UNDONE, Faults.inStep(reason, "receive", failure));
      }
      // Whoever restores it checks what is in the files, before anything uses them.
      ArtifactStage.SealedArtifact sealed = stage.sealReceived(sha256);
      OwnArtifact.require(artifact, sealed.manifest());
      return received(artifact, where, sealed.manifest(), sealed.sha256());
    } catch (Refused refused) {
      new ArtifactStore(where.folder(), parts.clock()).delete(where.name());
      return Ending.failed(Outcome.UNDONE, refused.faults().get(0));
    } catch (IOException e) {
      return Ending.failed(
          Outcome.UNDONE,
          Faults.inStep("TransferFailed", "receive", String.valueOf(e.getMessage())));
    }
  }

  /**
   * What a peer may write: it is not to fill the file system, which others use too. The operator
   * has compared the expected size with the store's reserve before; this is the last line.
   */
  private static long room(Path folder) throws IOException {
    FileStore disk = Files.getFileStore(folder);
    return Math.max(0, disk.getUsableSpace() - disk.getTotalSpace() / KEPT_FREE);
  }

  /** Its own failure in one sentence; empty when all of it is there. */
  private String await(Assignment assignment, StreamReceiver.Expected expected)
      throws IOException, InterruptedException {
    Throughput throughput = new Throughput(desk, "receive", System::nanoTime);
    while (!expected.await(LOOK)) {
      throughput.say(assignment, expected.bytes(), 0);
      if (assignment.isCancelled()) {
        return "the transfer was cancelled";
      }
      if (parts.clock().instant().isAfter(assignment.deadline())) {
        return "the deadline passed during the transfer";
      }
    }
    return "";
  }

  private Ending alreadyThere(
      ArtifactReference artifact, ArtifactPlace where, @Nullable String sha256)
      throws Refused, IOException {
    if (sha256 == null) {
      throw new Refused(
          Faults.of(
              "ArtifactRefused",
              "artifact " + artifact.location(),
              "none, since it is still to be made",
              "one"));
    }
    Opened opened =
        new ArtifactReader(threads(), (done, total) -> {})
            .open(where.path(), ArtifactReader.Regions.NOW, sha256);
    if (opened instanceof Opened.Refused refused) {
      throw new Refused(
          Faults.of("ArtifactRefused", refused.property(), refused.wanted(), refused.found()));
    }
    Manifest manifest = ((Opened.Verified) opened).artifact().manifest();
    OwnArtifact.require(artifact, manifest);
    return received(artifact, where, manifest, sha256);
  }

  private Ending received(
      ArtifactReference artifact, ArtifactPlace where, Manifest manifest, String sha256) {
    return Ending.done("Received", HumanText.size(manifest.sizes().bytes()) + " are here")
        .with(
            status ->
                status.setArtifact(
                    new ArtifactWords(parts.nodeName(), where.nodeLocal())
                        .of(artifact, manifest, sha256)));
  }

  private static int threads() {
    return Math.max(1, Runtime.getRuntime().availableProcessors());
  }
}
