package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.preflight.FailedRequirement;
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
 * Freezes a workload, writes the artifact, and resumes it, keeps it in memory, or holds it until
 * its pod is gone. After a failure the workload runs, or the outcome reports that it does not and
 * why.
 */
public final class Checkpoint {

  private static final System.Logger LOG = System.getLogger(Checkpoint.class.getName());

  private static final List<Step<Freeze, FrozenWork>> IN_MEMORY =
      List.of(new OffloadStep(), new LockStep(), new GpuCheckpointStep());

  private static final List<Step<Freeze, FrozenWork>> TO_STORE =
      List.of(
          new OffloadStep(),
          new LockStep(),
          new GpuCheckpointStep(),
          new StopStep(),
          new MoveStep(),
          new DumpStep(),
          new LayerStep(),
          new CopiedStep());

  private final NodeParts node;
  private final List<Step<Freeze, FrozenWork>> toStore;
  private final Inspection inspection;

  Checkpoint(NodeParts node) {
    this(node, TO_STORE);
  }

  /** With other store steps, for tests of failures after each step. */
  Checkpoint(NodeParts node, List<Step<Freeze, FrozenWork>> toStore) {
    this.node = node;
    this.toStore = List.copyOf(toStore);
    this.inspection = new Inspection(node);
  }

  /** The freezing steps; their undos, from the last to the first, thaw. */
  static List<Step<Freeze, FrozenWork>> steps() {
    return TO_STORE;
  }

  /** Checks whether it is possible, and estimates the size. Changes nothing. */
  public Inspected inspect(CheckpointRequest request) throws InterruptedException {
    Resolution resolution = node.containers().resolve(request.container());
    if (resolution instanceof Resolution.Found found) {
      return inspection.inspect(request, found.container());
    }
    return Inspected.refused(
        List.of(
            new FailedRequirement(
                "container",
                "one that runs on this node",
                ((Resolution.Refused) resolution).why())),
        "not asked");
  }

  /** Returns the room for that much device memory; empty if the container has ended. */
  public Optional<Inspected.RoomFound> room(String container, long gpuBytes) {
    return node.containers().resolve(container) instanceof Resolution.Found found
        ? Optional.of(node.room().found(found.container(), gpuBytes))
        : Optional.empty();
  }

  /**
   * Runs a checkpoint to its end.
   *
   * @param control cancel and deadline; both take effect between steps
   * @param listener receives the progress
   */
  public CheckpointOutcome run(
      CheckpointRequest request, OperationControl control, StepListener listener)
      throws InterruptedException {
    return run(request, control, listener, StageListener.NONE);
  }

  /**
   * The same.
   *
   * @param stages receives the files of the artifact that are final while others are still written
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
          List.of(new FailedRequirement("container", "one that runs on this node", refused.why())));
    }
    Container container = found.container();
    Optional<HostLocks.Held> lock = node.locks().tryTake(container.id());
    if (lock.isEmpty()) {
      return busy(
          "another operation is running on container " + container.id() + "; try again later");
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
        List.of(new FailedRequirement("container", "no recorded operation", why)));
  }

  private CheckpointOutcome locked(
      CheckpointRequest request,
      Container container,
      OperationControl control,
      StepListener listener,
      StageListener stages)
      throws InterruptedException {
    Inspected inspected = inspection.inspect(request, container);
    if (!inspected.everythingUnmet().isEmpty()) {
      // For a moment a forked child has files of its parent that it closes before it does anything.
      inspected = inspection.inspect(request, container);
    }
    List<FailedRequirement> unmet = inspected.everythingUnmet();
    if (!unmet.isEmpty()) {
      return new CheckpointOutcome.Refused(unmet);
    }
    Instant since = node.clock().instant();
    StoreCalls storeCalls = new StoreCalls(node.storeSilence());
    @Nullable ArtifactStage artifact = null;
    try {
      artifact = stage(request, inspected);
      StagePlan plan = new StagePlan(node, request, container, inspected);
      ChosenStage stage = reserve(plan, container, inspected, artifact);
      inspected = inspected.by(plan.settle(inspected.dataPath(), stage));
      if (inspected.dataPath() instanceof DataPath.None none) {
        throw new StepFailure(Reason.NO_ROOM, none.why());
      }
      Work work = begin(request, container, since, artifact);
      Freeze freeze =
          new Freeze(
              node,
              work,
              listener,
              request,
              container,
              artifact,
              stage,
              inspected,
              stages,
              storeCalls);
      if (artifact != null) {
        stages.begins(artifact.folder());
      }
      return new CheckpointRun(freeze, inspected, stepsFor(request)).run(control);
    } catch (IOException e) {
      return new CheckpointOutcome.Refused(
          List.of(
              new FailedRequirement(
                  "store", "a folder that can be written", String.valueOf(e.getMessage()))));
    } catch (StepFailure e) {
      return new CheckpointOutcome.Refused(
          List.of(
              new FailedRequirement(
                  "stage", "room for the device memory", String.valueOf(e.getMessage()))));
    } finally {
      node.ledger().giveBack(container.id());
      if (artifact != null) {
        discardLast(storeCalls, container.id(), artifact);
      }
    }
  }

  /** Not before the end of calls that were left behind: one of them may still write. */
  private void discardLast(StoreCalls storeCalls, String containerId, ArtifactStage artifact) {
    storeCalls.last(
        "deletion of " + artifact.folder(),
        () -> {
          if (!isOnlyCopy(containerId, artifact)) {
            discard(artifact);
          }
        });
  }

  /** Chooses the stage, and reserves the memory for it and for the driver. */
  private ChosenStage reserve(
      StagePlan plan, Container container, Inspected inspected, @Nullable ArtifactStage artifact)
      throws StepFailure, InterruptedException {
    boolean storeInMemory = artifact != null && plan.isInMemory(artifact.folder());
    try (HostLocks.Held held = node.ledger().open()) {
      ChosenStage stage = plan.choose(artifact, storeInMemory);
      long gpuBytes = inspected.gpuBytes();
      long staged = stage.stagedBytes();
      Optional<String> missing = node.room().missing(container, gpuBytes, staged);
      if (missing.isPresent()) {
        throw new StepFailure(Reason.NO_ROOM, missing.get());
      }
      node.ledger().promise(container.id(), Room.needed(gpuBytes) + staged, staged);
      return stage;
    }
  }

  /**
   * Returns whether memory of the workload may be in its stage only, or its artifact can be
   * published later: then the stage is kept after any failure.
   */
  private boolean isOnlyCopy(String containerId, ArtifactStage artifact) {
    Optional<Work> found = node.journal().read(containerId);
    if (found.filter(left -> left.phase() == Work.Phase.UNKNOWN).isPresent()) {
      return true; // A journal that cannot be read may say so.
    }
    // By now the container may have a later checkpoint.
    Optional<Work> work =
        found.filter(left -> artifact.folder().toString().equals(left.artifactStage()));
    return work.filter(new InterruptedPublication(node)::isPending).isPresent()
        || work.stream()
            .flatMap(left -> left.offloaded().stream())
            .map(Offloaded::file)
            .anyMatch(file -> file != null && Path.of(file).startsWith(artifact.folder()))
        || work.stream()
            .flatMap(left -> left.regionJournals().stream())
            .anyMatch(journal -> !node.journals().read(Path.of(journal)).whole());
  }

  /** Has no effect on a published artifact. */
  private static void discard(ArtifactStage artifact) {
    try {
      artifact.discard();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "Cannot delete the staging folder of an artifact", e);
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
        node.proc().bootId(),
        request.id(),
        request.owner(),
        Work.Kind.FREEZE,
        request.after(),
        request.options().heldUntilDecided(),
        Work.Phase.WORKING,
        since,
        container.id(),
        container.root(),
        artifact == null ? null : artifact.folder().toString(),
        artifact == null ? null : published(request).toString());
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
