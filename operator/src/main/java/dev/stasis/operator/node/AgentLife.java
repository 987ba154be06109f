package dev.stasis.operator.node;

import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.node.AgentIdentity;
import dev.stasis.api.v1alpha1.node.GpuNodeStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Whether the agent of a node can be counted on, from what it last said. */
public final class AgentLife {

  /** The agent speaks once a minute; two words may get lost. */
  public static final Duration SILENT_AFTER = Duration.ofMinutes(3);

  private static final String READY = "Ready";

  /**
   * Since when nobody can count on the agent: its last word when it is silent, the transition when
   * it says itself that it is not ready. Empty: it can be counted on.
   */
  public Optional<Instant> awaySince(GpuNode node, Instant now) {
    Instant heard = lastWord(node);
    if (isSilent(heard, now)) {
      return Optional.of(heard);
    }
    return ready(node)
        .filter(condition -> condition.status() == Truth.FALSE)
        .map(Condition::lastTransitionTime);
  }

  /** That the agent does not answer, in one sentence; empty: it does. */
  public Optional<String> silent(GpuNode node, Instant now) {
    Instant heard = lastWord(node);
    return isSilent(heard, now)
        ? Optional.of(
            "agent: wanted a heartbeat within "
                + SILENT_AFTER.toMinutes()
                + "m, found "
                + (heard.equals(Instant.EPOCH) ? "none" : "the last one at " + heard))
        : Optional.empty();
  }

  /** What stands against work on the node, in one sentence; empty: nothing. */
  public Optional<String> against(GpuNode node, Instant now) {
    return silent(node, now)
        .or(
            () ->
                ready(node)
                    .filter(condition -> condition.status() == Truth.FALSE)
                    .map(it -> "agent: wanted Ready, found not: " + it.message()));
  }

  /** When the agent last said that it is alive; the epoch when it never did. */
  public Instant lastWord(GpuNode node) {
    return Optional.ofNullable(node.getStatus())
        .map(GpuNodeStatus::getAgent)
        .map(AgentIdentity::heartbeatTime)
        .orElse(Instant.EPOCH);
  }

  private static boolean isSilent(Instant heard, Instant now) {
    return heard.plus(SILENT_AFTER).isBefore(now);
  }

  private static Optional<Condition> ready(GpuNode node) {
    List<Condition> conditions =
        node.getStatus() == null
            ? List.of()
            : Objects.requireNonNullElse(node.getStatus().getConditions(), List.of());
    return conditions.stream().filter(condition -> condition.type().equals(READY)).findFirst();
  }
}
