package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.engine.Look;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hooks;
import dev.stasis.api.v1alpha1.common.LivenessPolicy;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Durability;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * Checkpoint and Suspend: runs the hooks before its turn, then looks, says what it found, waits for
 * room, and freezes.
 */
final class FreezeJob implements Job {

  private static final System.Logger LOG = System.getLogger(FreezeJob.class.getName());

  private final AgentParts parts;
  private final Desk desk;
  private final Executor executor;
  private final UnfinishedArtifacts unfinished;
  private final FreezeRequests requests;
  private final PodPreflight preflight = new PodPreflight();

  FreezeJob(AgentParts parts, Desk desk, Executor executor, UnfinishedArtifacts unfinished) {
    this.unfinished = unfinished;
    this.parts = parts;
    this.desk = desk;
    this.executor = executor;
    this.requests = new FreezeRequests(parts);
  }

  /** What was found: an end, or what a freeze needs. */
  private record Looked(
      PodLookup.Place place,
      Inspection inspection,
      Inspected inspected,
      FreezeRequests.Made made,
      Optional<Ending> ending) {}

  @Override
  public Optional<Ending> prepare(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    if (!hasHooksBefore(assignment)) {
      return Optional.empty();
    }
    Looked looked = look(assignment);
    if (looked.ending().isPresent()) {
      return looked.ending();
    }
    FreezeHooks hooks =
        new FreezeHooks(parts, order(assignment).getHooks(), looked.place(), executor);
    assignment.hooks(hooks);
    HookRunner.Ran before = hooks.before(assignment);
    if (assignment.isCancelled()) {
      throw new Stopped("cancelled before the freeze", false);
    }
    if (parts.clock().instant().isAfter(assignment.deadline())) {
      throw new Stopped("the deadline passed before the freeze", true);
    }
    return before.fatal()
        ? Optional.of(
            seen(
                looked.place(),
                Ending.refused(
                    List.of(
                        new Fault(
                            "HookFailed", null, null, null, "hooks", null, before.sentence())))))
        : Optional.empty();
  }

  /** Whether something is to be done before its turn. */
  static boolean hasHooksBefore(Assignment assignment) {
    FreezeOrder order = assignment.spec().getFreeze();
    Hooks hooks = order == null ? null : order.getHooks();
    return hooks != null && hooks.before() != null && !hooks.before().isEmpty();
  }

  private static FreezeOrder order(Assignment assignment) {
    return Objects.requireNonNull(assignment.spec().getFreeze());
  }

  private Looked look(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    OperationPod wanted = Objects.requireNonNull(assignment.spec().getPod());
    FreezeOrder order = order(assignment);
    PodLookup.Place place = new PodLookup(parts).place(wanted);
    List<Fault> faults = new ArrayList<>(preflight.faults(place, wanted.containerName(), order));
    faults.addAll(preflight.fenced(place, parts.quarantine().fenced()));
    FreezeRequests.Made made;
    try {
      made = requests.of(assignment, place);
    } catch (Refused refused) {
      faults.addAll(refused.faults());
      made = new FreezeRequests.Made(requests.withoutStore(assignment, place), false);
    }
    CheckpointRequest request = made.request();
    Inspected inspected = parts.engine().checkpoint().inspect(request);
    for (Unmet unmet : inspected.unmet()) {
      faults.add(Faults.freezing(unmet));
    }
    faults.addAll(preflight.gpuFaults(place, inspected.seen()));
    Inspection inspection = new Inspection(parts, place, inspected, order, request);
    inspection.tooLong().ifPresent(faults::add);
    desk.say(assignment, inspection::to);
    Optional<Ending> ending = Optional.empty();
    if (order.getExplainOnly()) {
      inspection.noRoomAtAll().ifPresent(faults::add);
      ending =
          Optional.of(
              seen(place, Ending.done("Explained", inspection.sentence(faults)))
                  .with(status -> status.setExplanation(inspection.explanation(faults))));
    } else if (!faults.isEmpty()) {
      ending = Optional.of(seen(place, Ending.refused(faults)));
    }
    return new Looked(place, inspection, inspected, made, ending);
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    Looked looked = look(assignment);
    if (looked.ending().isPresent()) {
      return looked.ending().get();
    }
    PodLookup.Place place = looked.place();
    boolean raised;
    try {
      raised =
          new RoomWait(parts, desk).await(assignment, place.container().id(), looked.inspected());
    } catch (Refused refused) {
      return seen(place, Ending.refused(refused.faults()));
    }
    FreezeRequests.Made made =
        looked
            .made()
            .with(WorkloadFacts.FILE, new OperationJson().text(looked.inspection().facts()));
    Ending ending = frozen(assignment, place, made);
    if (raised && ending.workload() == WorkloadState.RUNNING) {
      // The kubelet tries to lower the limit again and again, so nobody has to wait for it.
      executor.execute(() -> parts.engine().dropPageCache(place.container().id()));
    }
    return ending;
  }

  /** Says of a workload that was not touched what it does. */
  private Ending seen(PodLookup.Place place, Ending ending) throws InterruptedException {
    Look.Seen seen = parts.engine().look().at(place.container().id());
    return ending.leaving(
        FreezeEnding.workload(seen.state()), FreezeEnding.running(seen.state()), seen.processes());
  }

  private Ending frozen(Assignment assignment, PodLookup.Place place, FreezeRequests.Made made)
      throws Stopped, InterruptedException {
    CheckpointRequest request = made.request();
    FreezeOrder order = order(assignment);
    FreezeHooks hooks =
        assignment
            .hooks()
            .orElseGet(() -> new FreezeHooks(parts, order.getHooks(), place, executor));
    assignment.hooks(hooks);
    if (assignment.isCancelled()) {
      throw new Stopped("cancelled before the freeze", false);
    }
    Duration waited =
        Duration.between(assignment.entry().created(), parts.clock().instant()).minus(hooks.took());
    OperationPod pod = Objects.requireNonNull(assignment.spec().getPod());
    assignment.control().ask(() -> new DeletedPod(parts).toldToEnd(pod, executor));
    desk.begin(assignment);
    EngineEar ear =
        new EngineEar(
            assignment, desk, request.after() == After.RESUME, hooks::beginAfter, System::nanoTime);
    StepListener listener =
        order.getLivenessPolicy() == LivenessPolicy.ANSWER
            ? new FrozenProbes(parts, place, ear, executor)
            : ear;
    CheckpointOutcome outcome = checkpoint(assignment, request, listener);
    Ending ending =
        new FreezeEnding(parts, assignment, place, made).of(outcome, waited, hooks.took());
    if (outcome instanceof CheckpointOutcome.Held held
        && request.options().durability() == Durability.LATER) {
      executor.execute(() -> sync(request, held));
    }
    return ending;
  }

  /** What will be sent when all of it is there can be sent before. */
  private CheckpointOutcome checkpoint(
      Assignment assignment, CheckpointRequest request, StepListener listener)
      throws InterruptedException {
    Path store = request.store();
    String owner = request.requester();
    if (store == null || owner == null) {
      return parts.engine().checkpoint().run(request, assignment.control(), listener);
    }
    Path artifact = store.resolve(request.name());
    UnfinishedArtifact making = unfinished.begin(artifact, owner);
    String why = "the freeze ended without an artifact that is held";
    try {
      CheckpointOutcome outcome =
          parts
              .engine()
              .checkpoint()
              .run(request, assignment.control(), abandoning(making, listener), making);
      if (outcome instanceof CheckpointOutcome.Held held) {
        making.published(held.artifact().path());
      } else if (outcome instanceof CheckpointOutcome.Failed failed) {
        why = "the freeze failed in step " + failed.step() + ": " + failed.message();
      }
      return outcome;
    } finally {
      unfinished.end(artifact, making);
      making.abandoned(why);
    }
  }

  /** The undo has the disk and the processor to itself: nobody sends what will never be whole. */
  private static StepListener abandoning(UnfinishedArtifact making, StepListener next) {
    return new StepListener() {
      @Override
      public void progress(String step, long done, long total) {
        next.progress(step, done, total);
      }

      @Override
      public void undoing(String why) {
        making.abandoned("the freeze is undone: " + why);
        next.undoing(why);
      }
    };
  }

  /** It is the only copy if the container is lost meanwhile and no target can take it. */
  private void sync(CheckpointRequest request, CheckpointOutcome.Held held) {
    Path artifact = held.artifact().path();
    try {
      new ArtifactStore(Objects.requireNonNull(artifact.getParent()), parts.clock())
          .sync(request.name());
    } catch (NoSuchFileException e) {
      LOG.log(System.Logger.Level.DEBUG, "artifact {0} was deleted before its sync", artifact);
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "artifact " + artifact + " could not be synced", e);
    }
  }
}
