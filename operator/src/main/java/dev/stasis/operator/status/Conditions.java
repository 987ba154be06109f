package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The conditions of one object, one of each type, in the order in which they first appeared. A
 * condition with an unchanged status keeps its transition time, whatever its new reason and message
 * are.
 *
 * @param list the conditions in the status
 */
public record Conditions(List<Condition> list) {

  public Conditions {
    list = List.copyOf(list);
  }

  /** Returns the conditions in a status; none without one. */
  public static Conditions of(@Nullable ConditionedStatus status) {
    List<Condition> known = status == null ? null : status.getConditions();
    return new Conditions(known == null ? List.of() : known);
  }

  public Optional<Condition> find(ConditionType type) {
    // A change of a node searches the conditions of every checkpoint: no stream.
    for (Condition condition : list) {
      if (condition.type().equals(type.value())) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  public boolean isTrue(ConditionType type) {
    return find(type).filter(condition -> condition.status() == ConditionValue.TRUE).isPresent();
  }

  public boolean isFalse(ConditionType type) {
    return find(type).filter(condition -> condition.status() == ConditionValue.FALSE).isPresent();
  }

  public boolean has(ConditionType type, Reason reason) {
    return find(type).filter(condition -> condition.reason().equals(reason.value())).isPresent();
  }

  /** Returns whether the workload was saved and its pod evicted. */
  public boolean isEvicted() {
    return has(ConditionType.SOURCE_RUNNING, Reason.EVICTED);
  }

  /** Returns whether the workload was lost while it was frozen or suspended. */
  public boolean isLost() {
    return has(ConditionType.SOURCE_RUNNING, Reason.WORKLOAD_LOST);
  }

  /**
   * Returns whether the artifact of a failed GpuCheckpoint can be restored, or may be later because
   * its agent is silent. Such an object is deleted only by its user.
   */
  public boolean mayBeRestored() {
    return isTrue(ConditionType.READY) || has(ConditionType.SOURCE_RUNNING, Reason.NODE_SILENT);
  }

  /** Returns whether a verification of the artifact found it damaged. */
  public boolean isDamaged() {
    return isFalse(ConditionType.RESTORABLE)
        && has(ConditionType.RESTORABLE, Reason.ARTIFACT_DAMAGED);
  }

  /**
   * Returns a copy with one condition set.
   *
   * @param generation the observed generation of the spec
   * @param now the time, in whole seconds as everywhere in Kubernetes
   */
  public Conditions with(
      ConditionType type,
      ConditionValue status,
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
        new Condition(type.value(), status, reason.value(), message, since, generation);
    List<Condition> all = new ArrayList<>(list);
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).type().equals(type.value())) {
        all.set(i, changed);
        return new Conditions(all);
      }
    }
    all.add(changed);
    return new Conditions(all);
  }

  public Conditions without(ConditionType type) {
    return new Conditions(
        list.stream().filter(condition -> !condition.type().equals(type.value())).toList());
  }
}
