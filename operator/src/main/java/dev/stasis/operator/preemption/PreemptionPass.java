package dev.stasis.operator.preemption;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Decisions of one pass, from one snapshot. Pods with equal requirements are decided once. */
final class PreemptionPass {

  private final VictimChooser chooser;
  private final ClusterSnapshot snapshot;
  private final Map<List<SchedulingKey>, PreemptionDecision> decisions = new HashMap<>();

  PreemptionPass(ClusterSnapshot snapshot, VictimRules rules, Instant now) {
    this.chooser = new VictimChooser(rules, now);
    this.snapshot = snapshot;
  }

  PreemptionDecision decide(List<Pod> group) {
    return decisions.computeIfAbsent(
        SchedulingKey.of(group), key -> chooser.choose(group, snapshot.nodesFor(group)));
  }
}
