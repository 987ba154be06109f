package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.StoreRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Freezes a workload, writes it down, and lets it go on, keeps it in memory, or holds it until its
 * pod is gone. Whatever fails on the way, the workload runs on, or the outcome says that it does
 * not and why.
 */
public final class Checkpoint {

  private static final System.Logger LOG = System.getLogger(Checkpoint.class.getName());

  private static final List<Step<Freeze, FrozenWork>> IN_MEMORY =
      List.of(new LockStep(), new GpuCheckpointStep());

  private static final List<Step<Freeze, FrozenWork>> TO_STORE =
      List.of(
          new LockStep(),
          new GpuCheckpointStep(),
          new StopStep(),
          new MoveStep(),
          new DumpStep(),
          new LayerStep());

  private final NodeParts node;
  private final List<Step<Freeze, FrozenWork>> toStore;
  private final Inspection inspection;

  Checkpoint(NodeParts node) {
    this(node, TO_STORE);
  }

  /** With other steps to a store, for those that test what follows a failure of each. */
  Checkpoint(NodeParts node, List<Step<Freeze, FrozenWork>> toStore) {
    this.node = node;
    this.toStore = List.copyOf(toStore);
    this.inspection = new Inspection(node);
  }

  /** The steps that freeze; their undos, from the last to the first, thaw. */
  static List<Step<Freeze, FrozenWork>> steps() {
    return TO_STORE;
  }

  /** Looks whether it could be done, and how big it would be. Touches nothing. */
  public Inspected inspect(CheckpointRequest request) throws InterruptedException {
    Resolution resolution = node.containers().resolve(request.container());
    if (resolution instanceof Resolution.Found found) {
      return inspection.inspect(request, found.container());
    }
    return Inspected.refused(
        List.of(
            new Unmet(
                "container",
                "one that runs on this node",
                ((Resolution.Refused) resolution).why())),
        "not asked");
  }

  /** The room for that much device memory; empty when the container has ended. */
  public Optional<Inspected.RoomFound> room(String container, long gpuBytes) {
    return node.containers().resolve(container) instanceof Resolution.Found found
        ? Optional.of(node.room().found(found.container(), gpuBytes))
        : Optional.empty();
  }

  /**
   * Runs a checkpoint to its end.
   *
   * @param control cancel and deadline; both act between steps
   * @param listener hears the progress
   */
  public CheckpointOutcome run(
      CheckpointRequest request, OperationControl control, StepListener listener)
      throws InterruptedException {
    return run(request, control, listener, StageListener.NONE);
  }

  /**
   * The same.
   *
   * @param stages hears which files of the artifact are final while others are still written
   */
  public CheckpointOutcome run(
      CheckpointRequest request,
      OperationControl control,
      StepListener listener,
      StageListener stages)
      throws InterruptedException {
    Resolution resolution = node.containers().resolve(request.container());
    if (!(resolution instanceof Resolution.Found found)) {
      Resolution.Refused refused = (Resolution.Refused) resolution;
      return new CheckpointOutcome.Refused(
          List.of(new Unmet("container", "one that runs on this node", refused.why())));
    }
    Container container = found.container();
    Optional<HostLocks.Held> lock = node.locks().tryTake(container.id());
    if (lock.isEmpty()) {
      return busy("another operation acts on container " + container.id() + "; try again later");
    }
    try (HostLocks.Held held = lock.get()) {
      Optional<Work> inHand = node.journal().read(container.id());
      if (inHand.isPresent()) {
        return busy(
            "container %s is %s for %s since %s; thaw it first: stasis-node thaw %s"
                .formatted(
                    container.id(),
                    inHand.get().phase(),
                    inHand.get().owner(),
                    inHand.get().since(),
                    container.id()));
      }
      return locked(request, container, control, listener, stages);
    }
  }

  private static CheckpointOutcome busy(String why) {
    return new CheckpointOutcome.Refused(
        List.of(new Unmet("container", "no other work in hand", why)));
  }

  private CheckpointOutcome locked(
      CheckpointRequest request,
      Container container,
      OperationControl control,
      StepListener listener,
      StageListener stages)
      throws InterruptedException {
    Inspected inspected = inspection.inspect(request, container);
    List<Unmet> unmet = inspected.everythingUnmet();
    if (!unmet.isEmpty()) {
      return new CheckpointOutcome.Refused(unmet);
    }
    Instant since = node.clock().instant();
    @Nullable ArtifactStage artifact = null;
    try {
      artifact = stage(request, inspected);
      Path stage = reserve(request, container, inspected.gpuBytes(), artifact);
      Work work = begin(request, container, since, artifact);
      Freeze freeze =
          new Freeze(node, work, listener, request, container, artifact, stage, inspected, stages);
      if (artifact != null) {
        stages.begins(artifact.folder());
      }
      return new CheckpointRun(freeze, inspected, stepsFor(request)).run(control);
    } catch (IOException e) {
      return new CheckpointOutcome.Refused(
          List.of(
              new Unmet("store", "a folder that can be written", String.valueOf(e.getMessage()))));
    } catch (StepFailure e) {
      return new CheckpointOutcome.Refused(
          List.of(
              new Unmet("stage", "room for the device memory", String.valueOf(e.getMessage()))));
    } finally {
      node.ledger().giveBack(container.id());
      if (artifact != null && !holdsOnlyCopy(container.id())) {
        discard(artifact);
      }
    }
  }

  /** Chooses the stage, and has the memory promised that it and the driver take. */
  private Path reserve(
      CheckpointRequest request,
      Container container,
      long gpuBytes,
      @Nullable ArtifactStage artifact)
      throws StepFailure, InterruptedException {
    StagePlan plan = new StagePlan(node, request, container, gpuBytes);
    try (HostLocks.Held held = node.ledger().open()) {
      Path stage = plan.folder(artifact);
      int copies = plan.copies(stage);
      Optional<String> missing = node.room().missing(container, gpuBytes, copies);
      if (missing.isPresent()) {
        throw new StepFailure(Reason.NO_ROOM, missing.get());
      }
      node.ledger()
          .promise(container.id(), Room.needed(gpuBytes, copies), copies > 1 ? gpuBytes : 0);
      return stage;
    }
  }

  /**
   * Whether memory of the workload may lie in its stage alone: then the stage stays, whatever else
   * failed.
   */
  private boolean holdsOnlyCopy(String containerId) {
    return node.journal().read(containerId).stream()
        .flatMap(work -> work.regionJournals().stream())
        .anyMatch(journal -> !node.journals().read(Path.of(journal)).whole());
  }

  /** Does nothing to an artifact that was published. */
  private static void discard(ArtifactStage artifact) {
    try {
      artifact.discard();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "an artifact's staging folder stays behind", e);
    }
  }

  private List<Step<Freeze, FrozenWork>> stepsFor(CheckpointRequest request) {
    return request.store() == null ? IN_MEMORY : toStore;
  }

  private Work begin(
      CheckpointRequest request,
      Container container,
      Instant since,
      @Nullable ArtifactStage artifact) {
    return new Work(
        Work.FORMAT,
        node.proc().bootId(),
        request.id(),
        request.owner(),
        Work.Kind.FREEZE,
        request.after(),
        Work.Phase.WORKING,
        since,
        container.id(),
        container.root(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        null,
        artifact == null ? null : artifact.folder().toString(),
        artifact == null ? null : published(request).toString(),
        List.of());
  }

  private Path published(CheckpointRequest request) {
    return new ArtifactStore(Objects.requireNonNull(request.store()), node.clock())
        .path(request.name());
  }

  private @Nullable ArtifactStage stage(CheckpointRequest request, Inspected inspected)
      throws IOException {
    Path folder = request.store();
    if (folder == null) {
      return null;
    }
    ArtifactStore store = new ArtifactStore(folder, node.clock());
    StoreRoom room = store.room(inspected.expectedBytes());
    if (!room.fits()) {
      throw new IOException(room.message());
    }
    ArtifactStage stage = store.stage(request.name());
    try {
      for (Map.Entry<String, String> attachment : request.attachments().entrySet()) {
        Files.writeString(stage.folder().resolve(attachment.getKey()), attachment.getValue());
      }
      return stage;
    } catch (IOException e) {
      discard(stage);
      throw e;
    }
  }
}
