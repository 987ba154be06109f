package dev.stasis.agent.daemon.operation;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import dev.stasis.store.VerifyReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Verify: reads every byte of an artifact in its store, at the configured rate, so that damage is
 * known before the artifact is needed. Damage in a remote store is repaired if this node still has
 * a whole copy.
 */
final class VerifyJob implements Job {

  /** The artifact cannot be restored; the operator relies on this reason. */
  private static final String DAMAGED = "ArtifactDamaged";

  private static final String STEP = "verify";

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Semaphore uploads;

  /**
   * @param uploads the turn of uploads, for a repair
   */
  VerifyJob(AgentParts parts, OperationRecorder recorder, Semaphore uploads) {
    this.parts = parts;
    this.recorder = recorder;
    this.uploads = uploads;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactPlace where = ArtifactPlace.withDigest(parts.cluster(), operation.artifact());
    return where.remote() == null ? inFolder(operation, where) : inRemoteStore(operation, where);
  }

  private OperationResult inFolder(ActiveOperation operation, ArtifactPlace where)
      throws Stopped, IOException {
    recorder.begin(operation);
    if (!Files.isDirectory(where.folder(), LinkOption.NOFOLLOW_LINKS)) {
      // More likely the file system is not mounted.
      return OperationResult.failed(
          Outcome.UNDONE, Faults.of("StoreFailed", "folder " + where.folder(), "a folder", "none"));
    }
    if (!where.exists()) {
      return damaged(
          Faults.of(DAMAGED, "artifact " + where.reference().location(), "a folder", "none"));
    }
    OperationProgress progress = new OperationProgress(operation, recorder, STEP);
    try {
      Opened opened = read(where, paced(operation, progress));
      if (opened instanceof Opened.Verified verified) {
        return whole(verified.artifact().manifest().sizes().bytes());
      }
      Opened.Refused refused = (Opened.Refused) opened;
      if (refused.kind() == Opened.Kind.NEWER) {
        return OperationResult.failed(
            Outcome.UNDONE,
            Faults.of("StoreFailed", refused.property(), refused.wanted(), refused.found()));
      }
      return damaged(Faults.of(DAMAGED, refused.property(), refused.wanted(), refused.found()));
    } catch (IOException e) {
      progress.rethrow(e);
      return unreadable(e);
    } catch (RuntimeException e) {
      progress.rethrow(e);
      throw e;
    }
  }

  /** One thread, for it competes with the workloads of the node. */
  private static Opened read(ArtifactPlace where, Progress progress) throws IOException {
    return new ArtifactReader(1, progress).open(where.path(), where.reference().sha256());
  }

  private Progress paced(ActiveOperation operation, Progress progress) {
    return new PacedProgress(
        progress, operation, (long) parts.verifyMibPerSecond() << 20, System::nanoTime);
  }

  /** A sector that cannot be read is damage; a server that does not answer is not. */
  private static OperationResult unreadable(IOException e) {
    String why = String.valueOf(e.getMessage());
    return why.contains("Input/output error")
        ? damaged(Faults.inStep(DAMAGED, STEP, why))
        : OperationResult.failed(Outcome.UNDONE, Faults.inStep("StoreFailed", STEP, why));
  }

  private OperationResult inRemoteStore(ActiveOperation operation, ArtifactPlace where)
      throws Refused, Stopped, InterruptedException {
    ArtifactId id = where.remoteId();
    OperationResult found =
        new RemoteTransfer(recorder, STEP)
            .run(
                operation,
                where.requireRemote().opener(),
                (remote, progress) -> verified(remote, id, paced(operation, progress)));
    return found.reason().equals(DAMAGED) ? repairedOr(found, operation, where, id) : found;
  }

  /**
   * Repairs the artifact. A failed repair does not hide the damage: the operator would take the
   * artifact for a good one, and the copy on this node, the last one, could be deleted.
   */
  private OperationResult repairedOr(
      OperationResult found, ActiveOperation operation, ArtifactPlace where, ArtifactId id)
      throws Refused, Stopped, InterruptedException {
    try {
      if (!isWholeHere(operation, where)) {
        return found;
      }
      OperationResult repaired =
          new RemoteTransfer(recorder, STEP, uploads)
              .run(
                  operation,
                  where.requireRemote().opener(),
                  (remote, progress) -> repair(remote, id, where, kept(where, progress)));
      return repaired.phase() == OperationPhase.SUCCEEDED
          ? repaired
          : unrepaired(found, repaired.message());
    } catch (Stopped e) {
      if (e.outOfTime()) {
        return unrepaired(found, String.valueOf(e.getMessage()));
      }
      throw e;
    } catch (UncheckedIOException e) {
      return unrepaired(found, String.valueOf(e.getMessage()));
    }
  }

  private static OperationResult unrepaired(OperationResult found, String why) {
    return damaged(Faults.inStep(DAMAGED, STEP, found.message() + "; the repair failed: " + why));
  }

  private static OperationResult verified(RemoteArtifacts remote, ArtifactId id, Progress progress)
      throws IOException {
    return damage(remote, id, progress)
        .map(damage -> damaged(Faults.inStep(DAMAGED, STEP, damage)))
        .orElseGet(() -> OperationResult.done("ArtifactVerified", "every chunk is unchanged"));
  }

  /** Returns what is damaged; empty if nothing is. */
  private static Optional<String> damage(RemoteArtifacts remote, ArtifactId id, Progress progress)
      throws IOException {
    try {
      VerifyReport report = remote.verify(id, progress);
      return report.damages().stream()
          .findFirst()
          .map(damage -> damage.where() + ": " + damage.cause());
    } catch (StoreException.Damaged e) {
      return Optional.of(String.valueOf(e.getMessage()));
    } catch (StoreException.NotFound e) {
      // The artifact is missing only if the store itself is there.
      remote.probe();
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** Returns whether this node has a whole copy of the artifact. */
  private boolean isWholeHere(ActiveOperation operation, ArtifactPlace where) throws Stopped {
    OperationProgress progress = new OperationProgress(operation, recorder, STEP);
    try {
      if (!where.exists()) {
        return false;
      }
      Opened opened = read(where, paced(operation, progress));
      if (opened instanceof Opened.Verified verified) {
        where.requireOurs(verified.artifact().manifest());
        return true;
      }
      return false;
    } catch (IOException e) {
      progress.rethrow(e);
      return false;
    } catch (Refused e) {
      return false;
    } catch (RuntimeException e) {
      progress.rethrow(e);
      throw e;
    }
  }

  /** Marks the copy as used for as long as it is read, so that it is not deleted meanwhile. */
  private Progress kept(ArtifactPlace where, Progress progress) {
    return (done, total) -> {
      progress.at(done, total);
      try {
        where.markUsed(parts.clock().instant());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  /** The damaged packs are out of use since the verification: their chunks are stored again. */
  private static OperationResult repair(
      RemoteArtifacts remote, ArtifactId id, ArtifactPlace where, Progress progress)
      throws IOException {
    progress.at(0, 1);
    remote.delete(id);
    var unused = remote.store(id, where.path(), progress);
    return damage(remote, id, progress)
        .map(damage -> damaged(Faults.inStep(DAMAGED, STEP, damage)))
        .orElseGet(
            () ->
                OperationResult.done(
                    "Repaired", "it was damaged, and was stored again from the copy on this node"));
  }

  private static OperationResult whole(long bytes) {
    return OperationResult.done(
        "ArtifactVerified", "every byte of " + new HumanBytes(bytes).text() + " is unchanged");
  }

  private static OperationResult damaged(Fault fault) {
    return OperationResult.failed(Outcome.UNDONE, fault);
  }
}
