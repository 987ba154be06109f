package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A pod that runs on a node.
 *
 * @param pod as it is
 * @param since since when it works without a checkpoint: its start, its return, or its newest one
 * @param started when it started, or came back
 * @param expectedFreeze how long its freeze is expected to take
 * @param spared why no policy may touch it (no GPU, not opted in, in the hands of an operation);
 *     empty: a policy may
 * @param gang why it works together with others; empty: it is alone
 * @param timesThisHour how often it has been a victim in the last hour
 */
public record Candidate(
    Pod pod,
    Instant since,
    Instant started,
    Duration expectedFreeze,
    Optional<String> spared,
    Optional<String> gang,
    int timesThisHour) {

  int priority() {
    Integer priority = pod.getSpec().getPriority();
    return priority == null ? 0 : priority;
  }

  String name() {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }
}
