package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.testing.OperationWork;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Agents without nodes, that move workloads without processes: what a test stops stays claimed,
 * what it fails fails. They write down what would run where, so that two copies, or none, are seen.
 */
@SuppressWarnings("NullAway") // what is not there fails the test
final class MovingAgents implements AutoCloseable {

  private static final Set<OperationType> OF_HELD = Set.of(OperationType.THAW, OperationType.END);

  private final KubernetesClient client;
  private final String namespace;
  private final Set<OperationType> stopped = ConcurrentHashMap.newKeySet();

  /** Namespaces whose operations no agent claims. */
  final Set<String> unclaimed = ConcurrentHashMap.newKeySet();

  private final Set<OperationType> failing = ConcurrentHashMap.newKeySet();
  private final Set<OperationType> failingOnce = ConcurrentHashMap.newKeySet();
  private volatile boolean freezesStopped;

  /** Names of pods in which the workload goes on. */
  final Set<String> running = ConcurrentHashMap.newKeySet();

  /** Set once two copies ran at one moment. */
  volatile boolean doubled;

  private final OperationWork work = new OperationWork(this::look);
  private final SharedIndexInformer<GpuNodeOperation> operations;

  MovingAgents(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
    this.operations = client.resources(GpuNodeOperation.class).inNamespace(namespace).inform(work);
  }

  void stop(OperationType type) {
    stopped.add(type);
  }

  void goOn(OperationType type) {
    stopped.remove(type);
    lookAgain();
  }

  private void lookAgain() {
    operations.getStore().list().forEach(it -> work.soon(it));
  }

  /** Freezes stay at work; looks do not. */
  void stopFreezes() {
    freezesStopped = true;
  }

  void freezesGoOn() {
    freezesStopped = false;
    goOn(OperationType.CHECKPOINT);
  }

  /** The next one of that type fails. */
  void failOnce(OperationType type) {
    failingOnce.add(type);
  }

  void heal(OperationType type) {
    failing.remove(type);
  }

  void fail(OperationType type) {
    failing.add(type);
  }

  /** The node of the source has another boot id: what was frozen there is gone with its memory. */
  void startSourceAnew() {
    client
        .resource(held().orElseThrow())
        .editStatus(
            it -> {
              it.getStatus().setPhase(OperationPhase.FAILED);
              it.getStatus().setOutcome(Outcome.LOST);
              it.getStatus().setWorkload(WorkloadState.ENDED);
              return it;
            });
  }

  private Optional<GpuNodeOperation> held() {
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(namespace)
        .list()
        .getItems()
        .stream()
        .filter(it -> it.getStatus() != null)
        .filter(it -> it.getStatus().getPhase() == OperationPhase.HELD)
        .findFirst();
  }

  private void look(GpuNodeOperation seen) {
    GpuNodeOperation operation = client.resource(seen).get();
    if (operation == null || unclaimed.contains(operation.getSpec().getRequester().namespace())) {
      return;
    }
    Set<String> before = Set.copyOf(running);
    GpuNodeOperationStatus status =
        Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new);
    OperationPhase phase = Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
    boolean unwanted =
        operation.getSpec().getCancel() || operation.getMetadata().getDeletionTimestamp() != null;
    boolean held = phase == OperationPhase.HELD;
    if (phase.isFinal()
        || held && (!unwanted || operation.getSpec().getFreeze().getHeldUntilDecided())) {
      return;
    }
    if (phase == OperationPhase.PENDING && unwanted) {
      // As real agents do: what nobody wants any more is not begun.
      status.setPhase(OperationPhase.CANCELLED);
      status.setOutcome(Outcome.UNDONE);
    } else if (phase == OperationPhase.PENDING) {
      status.setClaimedBy(new Claim("fake", null, Instant.now()));
      status.setPhase(OperationPhase.RUNNING);
      begin(operation, status);
    } else if (unwanted) {
      status.setPhase(OperationPhase.CANCELLED);
      status.setOutcome(Outcome.UNDONE);
      if (Kinds.freezes(operation)) {
        status.setWorkload(WorkloadState.RUNNING);
        status.setSourceRunning(ConditionValue.TRUE);
      }
      undo(operation, status);
    } else if (Kinds.onlyCompares(operation)) {
      end(operation, status);
    } else if (stopped.contains(operation.getSpec().getType())
        || freezesStopped && Kinds.freezes(operation)) {
      return;
    } else if (failing.contains(operation.getSpec().getType())
        || failingOnce.remove(operation.getSpec().getType())) {
      status.setPhase(OperationPhase.FAILED);
      status.setOutcome(Outcome.UNDONE);
      status.setFaults(
          List.of(new Fault("CriuFailed", null, null, null, null, null, "criu failed")));
      undo(operation, status);
    } else if (!end(operation, status)) {
      return;
    }
    operation.setStatus(status);
    try {
      client.resource(operation).updateStatus();
    } catch (KubernetesClientException e) {
      // Changed or gone meanwhile: nothing was done. What a thaw or an end did stands in the held
      // operation already, and the operator goes on from there.
      OperationType type = operation.getSpec().getType();
      if (!OF_HELD.contains(type) && !isWritten(operation)) {
        running.retainAll(before);
        running.addAll(before);
        if (status.getPhase() == OperationPhase.FAILED && !failing.contains(type)) {
          failingOnce.add(type);
        }
      }
      // No change of it may come: it is looked at again.
      throw e;
    }
  }

  /** Whether it was written all the same, and only the answer was lost. */
  private boolean isWritten(GpuNodeOperation operation) {
    while (true) {
      try {
        GpuNodeOperation now = client.resource(operation).get();
        return now != null
            && now.getStatus() != null
            && now.getStatus().getPhase() == operation.getStatus().getPhase();
      } catch (KubernetesClientException e) {
        // Asked until it is known.
        if (work.isOver()) {
          throw e;
        }
      }
    }
  }

  private void begin(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    GpuNodeOperationSpec spec = operation.getSpec();
    if (Kinds.freezes(operation)) {
      status.setWorkload(WorkloadState.FROZEN);
      status.setFrozenTime(Instant.now());
      running.remove(spec.getPod().name());
    }
    if (spec.getType() == OperationType.RECEIVE) {
      status.setListening("10.0.0.2:8743");
    }
  }

  private void undo(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    if (Kinds.freezes(operation)) {
      runs(operation);
    }
    if (operation.getSpec().getType() == OperationType.RESTORE) {
      status.setWorkload(WorkloadState.ENDED);
    }
  }

  private synchronized void runs(GpuNodeOperation operation) {
    OperationPod pod = operation.getSpec().getPod();
    // A workload ends with its pod.
    running.removeIf(it -> client.pods().inNamespace(pod.namespace()).withName(it).get() == null);
    running.add(pod.name());
    doubled = doubled || running.size() > 1;
  }

  private boolean end(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    GpuNodeOperationSpec spec = operation.getSpec();
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
    switch (spec.getType()) {
      case CHECKPOINT -> {
        Findings.of(spec, status);
        if (!spec.getFreeze().getDryRun()) {
          status.setPhase(OperationPhase.HELD);
          status.setOutcome(null);
          work.soon(this::lookAgain);
        }
      }
      case RECEIVE -> {
        GpuNodeOperation send = other(operation, "send");
        if (send == null
            || send.getStatus() == null
            || send.getStatus().getPhase() != OperationPhase.SUCCEEDED) {
          return false;
        }
        status.setArtifact(Findings.artifact(spec));
      }
      case SEND -> {
        if (Boolean.TRUE.equals(spec.getTransfer().getAhead()) && held().isEmpty()) {
          return false;
        }
        work.soon(other(operation, "receive"));
      }
      case RESTORE -> {
        if (Kinds.onlyCompares(operation)) {
          return true;
        }
        status.setProof(new Proof(Instant.now(), List.of(), 8L, 8L));
        runs(operation);
      }
      case THAW, END -> {
        boolean ends = spec.getType() == OperationType.END;
        if (ends && isThere(spec.getPod())) {
          status.setPhase(OperationPhase.FAILED);
          status.setOutcome(Outcome.REFUSED);
        } else {
          // Before anybody can read that it does.
          if (!ends) {
            runs(operation);
          }
          held(operation, ends ? WorkloadState.ENDED : WorkloadState.RUNNING);
        }
      }
      case SUSPEND -> status.setWorkload(WorkloadState.SUSPENDED);
      default -> {}
    }
    return true;
  }

  private boolean isThere(OperationPod of) {
    Pod pod = client.pods().inNamespace(of.namespace()).withName(of.name()).get();
    return pod != null
        && pod.getMetadata().getUid().equals(of.uid())
        && pod.getMetadata().getDeletionTimestamp() == null;
  }

  /** What is over by then stays as it ended. */
  private void held(GpuNodeOperation decided, WorkloadState left) {
    var of =
        client
            .resources(GpuNodeOperation.class)
            .inNamespace(decided.getMetadata().getNamespace())
            .withName(decided.getSpec().getOfOperation());
    if (of.get() != null && !of.get().getStatus().getPhase().isFinal()) {
      of.editStatus(
          held -> {
            held.getStatus().setPhase(OperationPhase.SUCCEEDED);
            held.getStatus().setOutcome(Outcome.DONE);
            held.getStatus().setWorkload(left);
            return held;
          });
    }
  }

  private GpuNodeOperation other(GpuNodeOperation operation, String what) {
    String name = operation.getMetadata().getName().replaceAll("send|receive", what);
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(operation.getMetadata().getNamespace())
        .withName(name)
        .get();
  }

  @Override
  public void close() {
    operations.close();
    work.end();
  }
}
