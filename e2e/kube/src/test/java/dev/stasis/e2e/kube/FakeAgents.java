package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObservedGpu;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The agents of all nodes at once: they claim, say that they work, and are done, as fast as the API
 * server takes it, in as many writes as an agent needs.
 */
final class FakeAgents implements AutoCloseable {

  /** One GPU of a node. */
  private static final String GPU =
      """
      gpu.computeCapability=9.0
      gpu.count=1
      gpu.driver=580.159.04
      gpu.interconnect=None
      gpu.memoryMiB=144384
      gpu.mig=Disabled
      gpu.model=NVIDIA H200
      """;

  /** As many as requests at once that an API server takes from one client without delay. */
  private static final int THREADS = 16;

  private static final long BYTES = 8L << 30;

  private final KubernetesClient admin;
  private final String namespace;
  private final ExecutorService hands = Executors.newFixedThreadPool(THREADS);
  private final Set<String> taken = ConcurrentHashMap.newKeySet();
  private final Map<String, Instant> created = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final Watch watch;

  FakeAgents(KubernetesClient admin, String namespace) {
    this.admin = admin;
    this.namespace = namespace;
    this.watch =
        admin
            .resources(GpuNodeOperation.class)
            .inNamespace(namespace)
            .watch(
                new Watcher<>() {
                  @Override
                  public void eventReceived(Action action, GpuNodeOperation operation) {
                    if (action == Action.ADDED && taken.add(operation.getMetadata().getName())) {
                      created.put(operation.getSpec().getRequester().name(), Instant.now());
                      hands.execute(() -> carryOut(operation));
                    }
                  }

                  @Override
                  public void onClose(@Nullable WatcherException cause) {
                    if (cause != null) {
                      failure.compareAndSet(null, cause);
                    }
                  }
                });
  }

  /** When an agent first saw an operation, by the name of its requester. */
  Map<String, Instant> seen() {
    return Map.copyOf(created);
  }

  void checkWell() {
    Throwable why = failure.get();
    if (why != null) {
      throw new AssertionError("a fake agent failed", why);
    }
  }

  private void carryOut(GpuNodeOperation operation) {
    try {
      GpuNodeOperationStatus status = new GpuNodeOperationStatus();
      status.setClaimedBy(
          new Claim("agent-" + operation.getSpec().getNodeName(), "boot", Instant.now()));
      enter(status, OperationPhase.CLAIMED);
      status.setContainerId("containerd://x");
      status.setArgv(List.of("/bin/train"));
      status.setHardware(
          new Hardware(
              "580.159.04",
              List.of(new ObservedGpu("GPU-x", "NVIDIA H200", 141L << 30, "141Gi", null, "9.0")),
              "None",
              FakeNodes.HOST + GPU,
              null));
      status.setRoom(new Room(BYTES, 0L, null, null, 1L << 40));
      GpuNodeOperation now = write(operation, status);
      enter(status, OperationPhase.RUNNING);
      status.setStep("lock");
      status.setWorkload(WorkloadState.FROZEN);
      now = write(now, status);
      enter(status, OperationPhase.SUCCEEDED);
      status.setOutcome(Outcome.DONE);
      status.setWorkload(WorkloadState.RUNNING);
      status.setSourceRunning(ConditionValue.TRUE);
      status.setSourceProcesses(1);
      if (operation.getSpec().getType() == OperationType.CHECKPOINT) {
        status.setArtifact(artifact(operation));
        CheckpointTimings timings = new CheckpointTimings();
        timings.setFrozenMilliseconds(2000L);
        timings.setFrozen("2.0s");
        status.setTimings(timings);
      }
      write(now, status);
    } catch (RuntimeException e) {
      failure.compareAndSet(null, e);
    }
  }

  private static ArtifactStatus artifact(GpuNodeOperation operation) {
    ArtifactReference asked = operation.getSpec().getArtifact();
    ArtifactStatus artifact = new ArtifactStatus();
    if (asked != null) {
      artifact.setStore(asked.store());
      artifact.setLocation(asked.location());
    }
    artifact.setNode(operation.getSpec().getNodeName());
    artifact.setBytes(BYTES);
    artifact.setSize("8.0Gi");
    artifact.setGpuBytes(BYTES);
    artifact.setSha256("0".repeat(64));
    artifact.setImage("sha256:" + "0".repeat(64));
    return artifact;
  }

  private static void enter(GpuNodeOperationStatus status, OperationPhase phase) {
    List<PhaseTime<OperationPhase>> phases =
        new ArrayList<>(status.getPhases() == null ? List.of() : status.getPhases());
    phases.add(new PhaseTime<>(phase, Instant.now()));
    status.setPhases(phases);
    status.setPhase(phase);
  }

  private GpuNodeOperation write(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    // As an agent does: the status alone, whatever else has changed meanwhile.
    Resource<GpuNodeOperation> named =
        admin
            .resources(GpuNodeOperation.class)
            .inNamespace(namespace)
            .withName(operation.getMetadata().getName());
    while (true) {
      try {
        return named.editStatus(
            found -> {
              found.setStatus(status);
              return found;
            });
      } catch (KubernetesClientException e) {
        // The client repeats a request that was not answered in time, and finds it changed.
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
          throw e;
        }
      }
    }
  }

  @Override
  public void close() {
    watch.close();
    hands.shutdownNow();
  }
}
