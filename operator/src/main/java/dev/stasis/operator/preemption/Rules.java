package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.policy.VictimOrder;
import java.time.Duration;
import java.util.List;

/**
 * What a policy says about victims, as far as numbers go.
 *
 * @param maxPriority highest priority of a victim
 * @param minRunTime how long a pod runs before it may be one
 * @param budgetLeft victims that may still be taken this hour
 * @param budgetPerPod how often one pod may be taken in an hour
 * @param maxVictims for one preemptor, or one gang
 * @param gangsAllowed whether a pod of a gang may be one
 * @param order what tells victims apart, most important first
 */
public record Rules(
    int maxPriority,
    Duration minRunTime,
    int budgetLeft,
    int budgetPerPod,
    int maxVictims,
    boolean gangsAllowed,
    List<VictimOrder> order) {
  /** The default order. */
  public static final List<VictimOrder> USUAL =
      List.of(
          VictimOrder.LOWEST_PRIORITY, VictimOrder.LEAST_WORK_LOST, VictimOrder.SHORTEST_FREEZE);

  public Rules {
    order = order.isEmpty() ? USUAL : List.copyOf(order);
  }
}
