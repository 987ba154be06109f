package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.probes.ContainerProbes;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.common.ProbePolicy;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactStore;
import io.fabric8.kubernetes.api.model.Container;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Checkpoint and Suspend: runs the hooks before it occupies the GPUs, then inspects the workload,
 * reports the findings, waits for memory, and freezes.
 */
final class FreezeJob implements Job {

  private static final System.Logger LOG = System.getLogger(FreezeJob.class.getName());

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Executor executor;
  private final UnfinishedArtifacts unfinished;
  private final Consumer<ActiveOperation> leaveGpus;
  private final FreezeRequests requests;
  private final PodPreflight preflight = new PodPreflight();

  /**
   * Freezes workloads of this agent's containers.
   *
   * @param leaveGpus releases the GPUs of an operation whose workload runs: the thaw of another one
   *     must not wait for its store
   */
  FreezeJob(
      AgentParts parts,
      OperationRecorder recorder,
      Executor executor,
      UnfinishedArtifacts unfinished,
      Consumer<ActiveOperation> leaveGpus) {
    this.unfinished = unfinished;
    this.leaveGpus = leaveGpus;
    this.parts = parts;
    this.recorder = recorder;
    this.executor = executor;
    this.requests = new FreezeRequests(parts);
  }

  /** The findings: a final result, or the input of a freeze. */
  private record Looked(
      PodLookup.Place place,
      Inspection inspection,
      Inspected inspected,
      FreezeRequests.Made made,
      Optional<OperationResult> result) {}

  @Override
  public Optional<OperationResult> prepare(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    if (!hasHooksBefore(operation)) {
      return Optional.empty();
    }
    Looked looked = look(operation);
    if (looked.result().isPresent()) {
      return looked.result();
    }
    FreezeHooks hooks =
        new FreezeHooks(parts, order(operation).getHooks(), looked.place(), executor);
    operation.hooks(hooks);
    HookRunner.Ran before = hooks.before(operation);
    operation.requireTime("before the freeze");
    return before.fatal()
        ? Optional.of(
            seen(
                looked.place(),
                OperationResult.refused(
                    List.of(
                        new Fault(
                            "HookFailed", null, null, null, "hooks", null, before.sentence())))))
        : Optional.empty();
  }

  /** Whether there is work before it occupies the GPUs. */
  static boolean hasHooksBefore(ActiveOperation operation) {
    FreezeOrder order = operation.spec().getFreeze();
    Hooks hooks = order == null ? null : order.getHooks();
    return hooks != null && hooks.before() != null && !hooks.before().isEmpty();
  }

  private static FreezeOrder order(ActiveOperation operation) {
    return Objects.requireNonNull(operation.spec().getFreeze());
  }

  private Looked look(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    OperationPod wanted = operation.pod();
    FreezeOrder order = order(operation);
    PodLookup.Place place = new PodLookup(parts).place(wanted);
    List<Fault> faults = new ArrayList<>(preflight.faults(place, wanted.containerName(), order));
    faults.addAll(preflight.fenced(place, parts.quarantine().fenced()));
    FreezeRequests.Made made;
    try {
      made = requests.of(operation, place);
    } catch (Refused refused) {
      faults.addAll(refused.faults());
      made = new FreezeRequests.Made(requests.withoutStore(operation, place), null);
    }
    CheckpointRequest request = made.request();
    Inspected inspected = parts.engine().checkpoint().inspect(request);
    for (FailedRequirement unmet : inspected.unmet()) {
      faults.add(Faults.freezing(unmet));
    }
    faults.addAll(preflight.gpuFaults(place, inspected.seen()));
    Inspection inspection = new Inspection(parts, place, inspected, order, request);
    inspection.tooLong().ifPresent(faults::add);
    recorder.publish(operation, inspection::to);
    Optional<OperationResult> result = Optional.empty();
    if (order.getDryRun()) {
      inspection.noRoomAtAll().ifPresent(faults::add);
      result =
          Optional.of(
              seen(place, OperationResult.done("Explained", inspection.sentence(faults)))
                  .with(status -> status.setExplanation(inspection.explanation(faults))));
    } else if (!faults.isEmpty()) {
      result = Optional.of(seen(place, OperationResult.refused(faults)));
    }
    return new Looked(place, inspection, inspected, made, result);
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    Looked looked = look(operation);
    if (looked.result().isPresent()) {
      return looked.result().get();
    }
    PodLookup.Place place = looked.place();
    boolean raised;
    try {
      raised =
          new RoomWait(parts, recorder)
              .await(operation, place.container().id(), looked.inspected());
    } catch (Refused refused) {
      return seen(place, OperationResult.refused(refused.faults()));
    }
    FreezeRequests.Made made =
        looked
            .made()
            .with(WorkloadFacts.FILE, new OperationJson().text(looked.inspection().facts()));
    OperationResult result = frozen(operation, place, made);
    if (raised && result.workload() == WorkloadState.RUNNING) {
      // The kubelet retries to lower the limit, so no wait is needed.
      executor.execute(() -> parts.engine().dropPageCache(place.container().id()));
    }
    return result;
  }

  /** Reports the state of a workload that was not touched. */
  private OperationResult seen(PodLookup.Place place, OperationResult result)
      throws InterruptedException {
    return result.leaving(parts.engine().look().at(place.container().id()));
  }

  private OperationResult frozen(
      ActiveOperation operation, PodLookup.Place place, FreezeRequests.Made made)
      throws Stopped, InterruptedException {
    CheckpointRequest request = made.request();
    FreezeOrder order = order(operation);
    FreezeHooks hooks =
        operation
            .hooks()
            .orElseGet(() -> new FreezeHooks(parts, order.getHooks(), place, executor));
    operation.hooks(hooks);
    operation.requireTime("before the freeze");
    Duration waited =
        Duration.between(operation.created(), parts.clock().instant()).minus(hooks.took());
    OperationPod pod = operation.pod();
    operation.control().ask(() -> new PodLookup(parts).toldToEnd(pod, executor));
    recorder.begin(operation);
    boolean answersProbes = order.getProbePolicy() == ProbePolicy.EMULATE;
    EngineProgressListener listener =
        new EngineProgressListener(
            operation,
            recorder,
            answersProbes ? () -> executor.execute(() -> answerProbes(place)) : () -> {},
            () -> {
              hooks.beginAfter();
              leaveGpus.accept(operation);
            },
            System::nanoTime);
    CheckpointOutcome outcome = checkpoint(operation, request, listener);
    OperationResult result =
        new FreezeResult(parts, operation, place, made).of(outcome, waited, hooks.took());
    if (outcome instanceof CheckpointOutcome.Held held && request.options().heldUntilDecided()) {
      executor.execute(() -> sync(request, held));
    }
    return result;
  }

  /**
   * Answers the probes of the container while its processes are stopped. The answering program ends
   * by itself when the workload resumes.
   */
  private void answerProbes(PodLookup.Place place) {
    String id = place.container().id();
    try {
      List<ProcessId> tree =
          parts.engine().thaw().inHand().stream()
              .filter(work -> work.containerId().equals(id))
              .map(Work::tree)
              .findFirst()
              .orElse(List.of());
      for (Container container : place.pod().getSpec().getContainers()) {
        if (container.getName().equals(place.container().name())) {
          var unused = parts.probes().begin(tree, new ContainerProbes(container).answerable());
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.WARNING, "probes of container " + id + " are not answered", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** What must be sent when it is complete can already be sent before. */
  private CheckpointOutcome checkpoint(
      ActiveOperation operation, CheckpointRequest request, EngineProgressListener listener)
      throws InterruptedException {
    Path store = request.store();
    String owner = request.requester();
    if (store == null || owner == null) {
      return parts.engine().checkpoint().run(request, operation.control(), listener);
    }
    Path artifact = store.resolve(request.name());
    UnfinishedArtifacts.Unfinished making = unfinished.begin(artifact, owner);
    // The undo gets disk and processor for itself.
    listener.whenUndone(reason -> making.abandoned("the freeze is undone: " + reason));
    String why = "the freeze ended without an artifact that is held";
    try {
      CheckpointOutcome outcome =
          parts.engine().checkpoint().run(request, operation.control(), listener, making);
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

  /** It is the only copy if the container is lost meanwhile and no target can run the workload. */
  private void sync(CheckpointRequest request, CheckpointOutcome.Held held) {
    Path artifact = held.artifact().path();
    try {
      new ArtifactStore(Objects.requireNonNull(artifact.getParent()), parts.clock())
          .sync(request.name());
    } catch (NoSuchFileException e) {
      LOG.log(Level.DEBUG, "artifact {0} was deleted before its sync", artifact);
    } catch (IOException e) {
      LOG.log(Level.WARNING, "artifact " + artifact + " could not be synced", e);
    }
  }
}
