package dev.stasis.operator.status;

import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Truth;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The conditions of one object, one of each type, in the order in which they first came up. A
 * condition whose status stays keeps the time of its transition, whatever its reason and message
 * become.
 *
 * @param list as they stand in the status
 */
public record Conditions(List<Condition> list) {

  public Conditions {
    list = List.copyOf(list);
  }

  /** The condition of that type. */
  public Optional<Condition> find(ConditionType type) {
    return list.stream().filter(condition -> condition.type().equals(type.word())).findFirst();
  }

  /** Whether the condition of that type is there and True. */
  public boolean isTrue(ConditionType type) {
    return find(type).filter(condition -> condition.status() == Truth.TRUE).isPresent();
  }

  /**
   * The same with one condition set.
   *
   * @param generation the generation of the spec that was looked at
   * @param now when; kept to the second, as everywhere in Kubernetes
   */
  public Conditions with(
      ConditionType type,
      Truth status,
      Reason reason,
      String message,
      long generation,
      Instant now) {
    Instant since =
        find(type)
            .filter(before -> before.status() == status)
            .map(Condition::lastTransitionTime)
            .orElseGet(() -> now.truncatedTo(ChronoUnit.SECONDS));
    Condition changed =
        new Condition(type.word(), status, reason.word(), message, since, generation);
    List<Condition> all = new ArrayList<>(list);
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).type().equals(type.word())) {
        all.set(i, changed);
        return new Conditions(all);
      }
    }
    all.add(changed);
    return new Conditions(all);
  }

  /** The same without the condition of that type. */
  public Conditions without(ConditionType type) {
    return new Conditions(
        list.stream().filter(condition -> !condition.type().equals(type.word())).toList());
  }
}
