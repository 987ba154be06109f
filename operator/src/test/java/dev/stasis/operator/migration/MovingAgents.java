package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.Proof;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.Claim;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Agents without nodes, that move workloads without processes: what a test stops stays claimed,
 * what it fails fails. They write down what would run where, so that two copies, or none, are seen.
 */
@SuppressWarnings("NullAway") // what is not there fails the test
final class MovingAgents implements AutoCloseable {

  static final String FINGERPRINT =
      """
      cpu.architecture=amd64
      criu.version=4.2.1
      gpu.computeCapability=9.0
      gpu.count=1
      gpu.driver=580.105.08
      gpu.interconnect=None
      gpu.memoryMiB=143771
      gpu.mig=Disabled
      gpu.model=NVIDIA H200
      """;

  private static final Set<OperationType> OF_HELD =
      Set.of(OperationType.THAW, OperationType.END);

  private final KubernetesClient client;
  private final String namespace;
  private final Set<OperationType> stopped = ConcurrentHashMap.newKeySet();
  private final Set<OperationType> failing = ConcurrentHashMap.newKeySet();
  private final Set<OperationType> failingOnce = ConcurrentHashMap.newKeySet();
  private volatile boolean freezesStopped;

  /** Names of pods in which the workload goes on. */
  final Set<String> running = ConcurrentHashMap.newKeySet();

  /** Set once two copies ran at one moment. */
  volatile boolean doubled;

  private final ExecutorService work = Executors.newSingleThreadExecutor();
  private final SharedIndexInformer<GpuNodeOperation> operations;

  MovingAgents(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
    this.operations =
        client.resources(GpuNodeOperation.class).inNamespace(namespace).inform(handler());
  }

  void stop(OperationType type) {
    stopped.add(type);
  }

  void goOn(OperationType type) {
    stopped.remove(type);
    operations.getStore().list().forEach(it -> work.execute(() -> look(it)));
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
    GpuNodeOperation held =
        client.resources(GpuNodeOperation.class).inNamespace(namespace).list().getItems().stream()
            .filter(it -> it.getStatus() != null)
            .filter(it -> it.getStatus().getPhase() == OperationPhase.HELD)
            .findFirst()
            .orElseThrow();
    client
        .resource(held)
        .editStatus(
            it -> {
              it.getStatus().setPhase(OperationPhase.FAILED);
              it.getStatus().setOutcome(Outcome.LOST);
              it.getStatus().setWorkload(WorkloadState.ENDED);
              return it;
            });
  }

  private ResourceEventHandler<GpuNodeOperation> handler() {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(GpuNodeOperation operation) {
        work.execute(() -> look(operation));
      }

      @Override
      public void onUpdate(GpuNodeOperation before, GpuNodeOperation operation) {
        work.execute(() -> look(operation));
      }

      @Override
      public void onDelete(GpuNodeOperation operation, boolean unknown) {}
    };
  }

  private void look(GpuNodeOperation seen) {
    try {
      lookAtOnce(seen);
    } catch (KubernetesClientException e) {
      // Somebody else wrote what was to be written too, or the API server is busy.
      work.execute(() -> look(seen));
    }
  }

  private void lookAtOnce(GpuNodeOperation seen) {
    GpuNodeOperation operation = client.resource(seen).get();
    if (operation == null) {
      return;
    }
    Set<String> before = Set.copyOf(running);
    GpuNodeOperationStatus status =
        Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new);
    OperationPhase phase = Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
    boolean unwanted =
        operation.getSpec().getCancel() || operation.getMetadata().getDeletionTimestamp() != null;
    boolean held = phase == OperationPhase.HELD;
    if (phase.isFinal() || held && !operation.getSpec().getCancel()) {
      return;
    }
    if (phase == OperationPhase.PENDING) {
      status.setClaimedBy(new Claim("fake", null, Instant.now()));
      status.setPhase(OperationPhase.RUNNING);
      begin(operation, status);
    } else if (unwanted) {
      status.setPhase(OperationPhase.CANCELLED);
      status.setOutcome(Outcome.UNDONE);
      if (freezes(operation)) {
        status.setWorkload(WorkloadState.RUNNING);
        status.setSourceRunning(Truth.TRUE);
      }
      undo(operation);
    } else if (onlyCompares(operation)) {
      end(operation, status);
    } else if (stopped.contains(operation.getSpec().getType())
        || freezesStopped && freezes(operation)) {
      return;
    } else if (failing.contains(operation.getSpec().getType())
        || failingOnce.remove(operation.getSpec().getType())) {
      status.setPhase(OperationPhase.FAILED);
      status.setOutcome(Outcome.UNDONE);
      status.setFaults(
          List.of(new Fault("CriuFailed", null, null, null, null, null, "criu failed")));
      undo(operation);
    } else if (!end(operation, status)) {
      return;
    }
    operation.setStatus(status);
    try {
      client.resource(operation).updateStatus();
    } catch (KubernetesClientException e) {
      // Changed or gone meanwhile: nothing was done, and the watch brings it again. What a thaw or
      // an end did stands in the held operation already, and the operator goes on from there.
      if (!OF_HELD.contains(operation.getSpec().getType())) {
        running.retainAll(before);
        running.addAll(before);
      }
    }
  }

  private void begin(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    GpuNodeOperationSpec spec = operation.getSpec();
    if (spec.getFreeze() != null && !spec.getFreeze().getExplainOnly()) {
      status.setWorkload(WorkloadState.FROZEN);
      status.setFrozenTime(Instant.now());
      running.remove(spec.getPod().name());
    }
    if (spec.getType() == OperationType.RECEIVE) {
      status.setListening("10.0.0.2:8743");
    }
  }

  private void undo(GpuNodeOperation operation) {
    if (operation.getSpec().getFreeze() != null
        && !operation.getSpec().getFreeze().getExplainOnly()) {
      runs(operation.getSpec().getPod().name());
    }
  }

  private synchronized void runs(String pod) {
    running.add(pod);
    doubled = doubled || running.size() > 1;
  }

  private boolean end(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    GpuNodeOperationSpec spec = operation.getSpec();
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
    switch (spec.getType()) {
      case CHECKPOINT -> {
        if (spec.getFreeze().getExplainOnly()) {
          status.setArgv(List.of("python3", "train.py"));
          status.setImage("registry.example/train@sha256:" + "ab".repeat(32));
          status.setHardware(new Hardware("580.105.08", null, "None", FINGERPRINT, null));
          status.setRoom(new Room(1L << 30, 0L, null, null, 1L << 40));
        } else {
          status.setPhase(OperationPhase.HELD);
          status.setOutcome(null);
          status.setArgv(List.of("python3", "train.py"));
          status.setHardware(new Hardware("580.105.08", null, "None", FINGERPRINT, null));
          status.setArtifact(artifact(spec));
        }
      }
      case RECEIVE -> {
        GpuNodeOperation send = other(operation, "send");
        if (send == null
            || send.getStatus() == null
            || send.getStatus().getPhase() != OperationPhase.SUCCEEDED) {
          return false;
        }
        status.setArtifact(artifact(spec));
      }
      case SEND -> work.execute(() -> look(other(operation, "receive")));
      case RESTORE -> {
        if (onlyCompares(operation)) {
          return true;
        }
        status.setProof(new Proof(Instant.now(), List.of(), 8L, 8L));
        runs(spec.getPod().name());
      }
      case THAW, END -> {
        Pod pod =
            client
                .pods()
                .inNamespace(spec.getPod().namespace())
                .withName(spec.getPod().name())
                .get();
        boolean ends = spec.getType() == OperationType.END;
        if (ends && pod != null && pod.getMetadata().getDeletionTimestamp() == null) {
          status.setPhase(OperationPhase.FAILED);
          status.setOutcome(Outcome.REFUSED);
        } else {
          // Before anybody can read that it does.
          if (!ends) {
            runs(spec.getPod().name());
          }
          held(operation, ends ? WorkloadState.ENDED : WorkloadState.RUNNING);
        }
      }
      default -> {}
    }
    return true;
  }

  private static boolean freezes(GpuNodeOperation operation) {
    return operation.getSpec().getFreeze() != null
        && !operation.getSpec().getFreeze().getExplainOnly();
  }

  /** A look at the target's GPUs, which nobody stops. */
  private static boolean onlyCompares(GpuNodeOperation operation) {
    return operation.getSpec().getRestore() != null
        && Boolean.TRUE.equals(operation.getSpec().getRestore().getExplainOnly());
  }

  private void held(GpuNodeOperation decided, WorkloadState left) {
    client
        .resources(GpuNodeOperation.class)
        .inNamespace(decided.getMetadata().getNamespace())
        .withName(decided.getSpec().getOfOperation())
        .editStatus(
            held -> {
              held.getStatus().setPhase(OperationPhase.SUCCEEDED);
              held.getStatus().setOutcome(Outcome.DONE);
              held.getStatus().setWorkload(left);
              return held;
            });
  }

  private GpuNodeOperation other(GpuNodeOperation operation, String what) {
    String name = operation.getMetadata().getName().replaceAll("send|receive", what);
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(operation.getMetadata().getNamespace())
        .withName(name)
        .get();
  }

  private static ArtifactStatus artifact(GpuNodeOperationSpec spec) {
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore(spec.getArtifact().store());
    artifact.setLocation(spec.getArtifact().location());
    artifact.setNode(spec.getArtifact().store().equals("shared") ? null : spec.getNodeName());
    artifact.setImage("registry.example/train@sha256:" + "ab".repeat(32));
    artifact.setBytes(1L << 30);
    artifact.setSize("1.0Gi");
    artifact.setSha256("ab".repeat(32));
    return artifact;
  }

  @Override
  public void close() {
    operations.close();
    work.shutdownNow();
  }
}
