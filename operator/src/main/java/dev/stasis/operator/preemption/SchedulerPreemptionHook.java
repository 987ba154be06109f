package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import jakarta.inject.Singleton;
import java.util.Optional;

/**
 * Refuses the scheduler's deletions of pods that a policy with interceptScheduler may preempt: the
 * policy checkpoints them first.
 */
@Singleton
class SchedulerPreemptionHook implements AdmissionHook {

  private final Cluster cluster;
  private final PolicyScope scope;

  SchedulerPreemptionHook(Cluster cluster, StasisConfig config) {
    this.cluster = cluster;
    this.scope = new PolicyScope(cluster, new GpuPods(config.gpuResources()));
  }

  @Override
  public String path() {
    return "preempt";
  }

  @Override
  public Verdict review(AdmissionRequest request) {
    Optional<Pod> pod =
        cluster
            .pod(request.getNamespace(), request.getName())
            .filter(it -> it.getMetadata().getDeletionTimestamp() == null)
            .filter(it -> !new PodState(it).isOver());
    return pod.flatMap(this::policyOf)
        .<Verdict>map(
            policy ->
                new Verdict.NotNow(
                    "GpuPreemptionPolicy %s preempts instead of the scheduler: pod %s is checkpointed before it is evicted"
                        .formatted(policy.getMetadata().getName(), request.getName())))
        .orElseGet(Verdict::allowed);
  }

  private Optional<GpuPreemptionPolicy> policyOf(Pod pod) {
    return cluster.policies().stream()
        .filter(
            policy -> Boolean.TRUE.equals(policy.getSpec().getOptions().getInterceptScheduler()))
        .filter(policy -> !Boolean.TRUE.equals(policy.getSpec().getSuspend()))
        .filter(
            policy -> new PodState(pod).priority() <= policy.getSpec().getVictims().maxPriority())
        .filter(policy -> scope.victimRefusal(policy, pod).isEmpty())
        .findFirst();
  }
}
