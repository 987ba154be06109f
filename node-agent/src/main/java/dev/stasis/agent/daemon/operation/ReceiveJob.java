package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Prefetch;
import dev.stasis.agent.stream.BlockListener;
import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
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

  private static final System.Logger LOG = System.getLogger(ReceiveJob.class.getName());

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
        Prefetch prefetch = prefetch(operation, order.getTarget(), stage.folder());
        StreamReceiver.Expected expected =
            parts
                .transfers()
                .receiver()
                // The operator has compared the expected size before: this is the last protection.
                .expect(
                    order.getId(),
                    order.getPeer().certificate(),
                    stage.folder(),
                    where.room(),
                    prefetch == null ? BlockListener.NONE : prefetch::arrived)) {
      recorder.publish(operation, status -> status.setListening(parts.transfers().listening()));
      String failure = await(operation, expected);
      if (!failure.isEmpty()) {
        String reason = operation.isCancelled() ? "Cancelled" : "TransferFailed";
        return OperationResult.failed(Outcome.UNDONE, Faults.inStep(reason, "receive", failure));
      }
      if (prefetch != null) {
        prefetch.stop();
      }
      // A restore checks the content of the files before it uses them.
      ArtifactStage.SealedArtifact sealed = stage.sealReceived(sha256);
      where.requireOurs(sealed.manifest());
      if (prefetch != null) {
        prefetch.keep();
      }
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

  /** Loads device memory while it arrives; null if not. No reason for it fails the transfer. */
  private @Nullable Prefetch prefetch(
      ActiveOperation operation, @Nullable OperationPod target, Path folder)
      throws InterruptedException {
    if (target == null || !target.namespace().equals(operation.artifact().namespace())) {
      return null;
    }
    try {
      PodLookup.Place place = new PodLookup(parts).place(target);
      return new PodPreflight().fenced(place, parts.quarantine().fenced()).isEmpty()
          ? parts.engine().prefetch(place.container().id(), folder).orElse(null)
          : null;
    } catch (Refused | IOException | RuntimeException e) {
      LOG.log(Level.INFO, "Device memory is loaded after its arrival: pod {0}: {1}", target, e);
      return null;
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
