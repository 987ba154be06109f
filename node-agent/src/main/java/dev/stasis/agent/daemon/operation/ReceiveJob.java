package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Receive: stores an artifact that another agent streams, even one that is still being written and
 * has no digest yet. It becomes visible when it is complete and correct.
 */
final class ReceiveJob implements Job {

  /** Interval of progress reports: that of status writes. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final AgentParts parts;
  private final OperationRecorder recorder;

  ReceiveJob(AgentParts parts, OperationRecorder recorder) {
    this.parts = parts;
    this.recorder = recorder;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference artifact = operation.artifact();
    TransferOrder order = Objects.requireNonNull(operation.spec().getTransfer());
    String sha256 = artifact.sha256();
    if (sha256 == null && !Boolean.TRUE.equals(order.getAhead())) {
      throw new Refused("ArtifactRefused", "artifact.sha256", "a digest", "none");
    }
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), artifact);
    if (where.exists()) {
      return alreadyThere(artifact, where, sha256);
    }
    where.createFolder();
    where.removeLeftovers(parts);
    recorder.begin(operation);
    try (ArtifactStage stage =
            new ArtifactStore(where.folder(), parts.clock()).stage(where.name());
        StreamReceiver.Expected expected =
            parts
                .transfers()
                .receiver()
                // The operator has compared the expected size before: this is the last protection.
                .expect(
                    order.getId(), order.getPeer().certificate(), stage.folder(), where.room())) {
      recorder.publish(operation, status -> status.setListening(parts.transfers().listening()));
      String failure = await(operation, expected);
      if (!failure.isEmpty()) {
        String reason = operation.isCancelled() ? "Cancelled" : "TransferFailed";
        return OperationResult.failed(Outcome.UNDONE, Faults.inStep(reason, "receive", failure));
      }
      // A restore checks the content of the files before it uses them.
      ArtifactStage.SealedArtifact sealed = stage.sealReceived(sha256);
      where.requireOurs(sealed.manifest());
      return received(where, sealed.manifest(), sealed.sha256());
    } catch (Refused refused) {
      new ArtifactStore(where.folder(), parts.clock()).delete(where.name());
      return OperationResult.failed(Outcome.UNDONE, refused.faults().get(0));
    } catch (IOException e) {
      return OperationResult.failed(
          Outcome.UNDONE,
          Faults.inStep("TransferFailed", "receive", String.valueOf(e.getMessage())));
    }
  }

  /** Returns the failure in one sentence; empty if the transfer is complete. */
  private String await(ActiveOperation operation, StreamReceiver.Expected expected)
      throws IOException, InterruptedException {
    Throughput throughput = new Throughput(recorder, "receive", System::nanoTime);
    while (!expected.await(LOOK)) {
      throughput.report(operation, expected.bytes(), 0);
      if (operation.isCancelled()) {
        return "the transfer was cancelled";
      }
      if (operation.isOverdue()) {
        return "the deadline passed during the transfer";
      }
    }
    return "";
  }

  private OperationResult alreadyThere(
      ArtifactReference artifact, ArtifactPlace where, @Nullable String sha256)
      throws Refused, IOException {
    if (sha256 == null) {
      throw new Refused(
          "ArtifactRefused",
          "artifact " + artifact.location(),
          "none, because it does not exist yet",
          "one");
    }
    Manifest manifest =
        ArtifactPlace.require(new ArtifactReader(Progress.NONE).open(where.path(), sha256))
            .manifest();
    where.requireOurs(manifest);
    return received(where, manifest, sha256);
  }

  private OperationResult received(ArtifactPlace where, Manifest manifest, String sha256) {
    return OperationResult.done(
            "Received", new HumanBytes(manifest.sizes().bytes()).text() + " are here")
        .with(status -> status.setArtifact(where.status(parts.nodeName(), manifest, sha256)));
  }
}
