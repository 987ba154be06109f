package dev.stasis.operator.testing;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.request.RequestWrites;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Writes into a {@link FakeCluster}. */
public final class FakeRequestWrites implements RequestWrites {

  /** Names of the pods of all checkpoints that were created. */
  public final List<String> checkpointed = new ArrayList<>();

  /** Names of deleted pods; "NAME by force" for those that were not left to their kubelet. */
  public final List<String> deletedPods = new ArrayList<>();

  /** Names of pods that the scheduler has bound, although the cache does not show it yet. */
  public final Set<String> bound = new HashSet<>();

  /** Whether checkpoints were changed after they were read. */
  public boolean changedMeanwhile;

  /** Which requests a quota refuses. */
  public Predicate<HasMetadata> refused = request -> false;

  /** The API server's answer to those. */
  public String refusal = "exceeded quota: stasis";

  private final FakeCluster cluster;
  private final Supplier<Instant> now;
  private final Consumer<GpuCheckpoint> onCheckpoint;

  public FakeRequestWrites(
      FakeCluster cluster, Supplier<Instant> now, Consumer<GpuCheckpoint> onCheckpoint) {
    this.cluster = cluster;
    this.now = now;
    this.onCheckpoint = onCheckpoint;
  }

  @Override
  public Optional<String> create(HasMetadata request) {
    if (refused.test(request)) {
      return Optional.of(refusal);
    }
    request.getMetadata().setUid("uid-" + request.getMetadata().getName());
    request.getMetadata().setCreationTimestamp(now.get().toString());
    if (request instanceof GpuCheckpoint checkpoint && isNew(cluster.checkpoints, request)) {
      checkpointed.add(checkpoint.getSpec().podName());
      onCheckpoint.accept(checkpoint);
      cluster.checkpoints.add(checkpoint);
    } else if (request instanceof GpuRestore restore && isNew(cluster.restores, request)) {
      cluster.restores.add(restore);
    }
    return Optional.empty();
  }

  private static boolean isNew(List<? extends HasMetadata> all, HasMetadata request) {
    return all.stream()
        .noneMatch(it -> it.getMetadata().getName().equals(request.getMetadata().getName()));
  }

  @Override
  public void cancel(GpuCheckpoint checkpoint) {
    checkpoint.getSpec().getOptions().setCancel(true);
  }

  @Override
  public void delete(HasMetadata request) {
    cluster.checkpoints.remove(request);
    cluster.restores.remove(request);
  }

  @Override
  public boolean deleteUnchanged(HasMetadata request) {
    return !changedMeanwhile && cluster.checkpoints.remove(request);
  }

  @Override
  public void deletePod(Pod pod, boolean force) {
    deletedPods.add(pod.getMetadata().getName() + (force ? " by force" : ""));
    cluster.pods.removeIf(it -> it.getMetadata().getUid().equals(pod.getMetadata().getUid()));
  }

  @Override
  public boolean nominate(Pod pod, String node) {
    if (bound.contains(pod.getMetadata().getName())) {
      return false;
    }
    pod.getStatus().setNominatedNodeName(node);
    return true;
  }
}
