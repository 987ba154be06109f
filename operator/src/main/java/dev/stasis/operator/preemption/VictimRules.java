package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.policy.VictimOrder;
import java.time.Duration;
import java.util.List;

/**
 * The numeric rules of a policy about victims.
 *
 * @param maxPriority highest priority of a victim
 * @param minRunTime how long a pod must have run
 * @param budgetLeft victims that are still allowed this hour
 * @param budgetPerPod how often one pod may be a victim in an hour
 * @param maxVictims maximum for one preemptor, or one gang
 * @param gangsAllowed whether a pod of a gang may be one
 * @param order the criteria that rank victims, most important first
 */
record VictimRules(
    int maxPriority,
    Duration minRunTime,
    int budgetLeft,
    int budgetPerPod,
    int maxVictims,
    boolean gangsAllowed,
    List<VictimOrder> order) {
  /** The default order. */
  static final List<VictimOrder> USUAL =
      List.of(
          VictimOrder.LOWEST_PRIORITY, VictimOrder.LEAST_WORK_LOST, VictimOrder.SHORTEST_FREEZE);

  VictimRules {
    order = order.isEmpty() ? USUAL : List.copyOf(order);
  }
}
