package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicyStatus;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Optional;

/** Two PriorityClasses and a GpuPreemptionPolicy, for the pods of one scenario alone. */
record Priorities(Scenario scenario) implements AutoCloseable {

  /** The classes; the policy is applied by {@link #watch}. */
  static Priorities make(Scenario scenario) {
    Priorities made = new Priorities(scenario);
    scenario.apply(priorityClass(made.low(), 10, "Never"));
    scenario.apply(priorityClass(made.high(), 1000, "Never"));
    return made;
  }

  private String low() {
    return policy() + "-low";
  }

  private String high() {
    return policy() + "-high";
  }

  /** Its name. */
  String policy() {
    return scenario.namespace();
  }

  PodBuilder low(PodBuilder pod) {
    return pod.editSpec().withPriorityClassName(low()).endSpec();
  }

  PodBuilder high(PodBuilder pod) {
    return pod.editSpec().withPriorityClassName(high()).endSpec();
  }

  static String priorityClass(String name, int value, String preemption) {
    return """
    apiVersion: scheduling.k8s.io/v1
    kind: PriorityClass
    metadata: {name: %s}
    value: %d
    preemptionPolicy: %s
    """
        .formatted(name, value, preemption);
  }

  /** From now on the low ones yield to the high ones. */
  void watch() {
    watch(60);
  }

  /**
   * The same.
   *
   * @param perPod how often each may yield in an hour
   */
  void watch(int perPod) {
    scenario.apply(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuPreemptionPolicy
        metadata: {name: %s}
        spec:
          victims:
            maxPriority: 100
            namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
          preemptors:
            minPriority: 500
            namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
          minRunTime: 0s
          options:
            budgetPerPodPerHour: %d
            budgetPerHour: 100
        """
            .formatted(policy(), policy(), policy(), perPod));
  }

  GpuPreemptionPolicyStatus status() {
    GpuPreemptionPolicy found =
        scenario.admin().resources(GpuPreemptionPolicy.class).withName(policy()).get();
    return found == null || found.getStatus() == null
        ? new GpuPreemptionPolicyStatus()
        : found.getStatus();
  }

  /** The reason of its condition Ready; empty until it has one. */
  String reason() {
    return ready().map(Condition::reason).orElse("");
  }

  /** The message of its condition Ready; empty until it has one. */
  String message() {
    return ready().map(Condition::message).orElse("");
  }

  private Optional<Condition> ready() {
    return Optional.ofNullable(status().getConditions()).orElse(List.of()).stream()
        .filter(condition -> condition.type().equals("Ready"))
        .findFirst();
  }

  @Override
  public void close() {
    scenario.tryKubectl("delete", "gpol", policy());
    scenario.tryKubectl("delete", "priorityclass", low(), high(), "--ignore-not-found");
  }
}
