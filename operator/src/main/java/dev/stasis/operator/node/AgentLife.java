package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Determines from its last report whether the agent of a node is available. */
public final class AgentLife {

  /** The agent reports once a minute; two reports may be lost. */
  public static final Duration SILENT_AFTER = Duration.ofMinutes(3);

  /**
   * Returns since when the agent is unavailable: its last report if it is silent, or the transition
   * if it reports that it is not ready. Empty if it is available.
   */
  public Optional<Instant> awaySince(GpuNode node, Instant now) {
    Instant heard = lastWord(node);
    if (isSilent(heard, now)) {
      return Optional.of(heard);
    }
    return notReady(node).map(Condition::lastTransitionTime);
  }

  /** Returns one sentence saying that the agent does not respond; empty if it does. */
  public Optional<String> silent(GpuNode node, Instant now) {
    Instant heard = lastWord(node);
    return isSilent(heard, now)
        ? Optional.of(
            "agent: expected a heartbeat within "
                + SILENT_AFTER.toMinutes()
                + "m, got "
                + (heard.equals(Instant.EPOCH) ? "none" : "the last one at " + heard))
        : Optional.empty();
  }

  /** Returns one sentence on what prevents work on the node; empty if nothing does. */
  public Optional<String> against(GpuNode node, Instant now) {
    return silent(node, now)
        .or(
            () ->
                notReady(node).map(it -> "agent: expected Ready, got not ready: " + it.message()));
  }

  /** Returns the time of the agent's last report; the epoch if there was none. */
  public Instant lastWord(GpuNode node) {
    return Optional.ofNullable(node.getStatus())
        .map(GpuNodeStatus::getAgent)
        .map(AgentIdentity::heartbeatTime)
        .orElse(Instant.EPOCH);
  }

  private static boolean isSilent(Instant heard, Instant now) {
    return heard.plus(SILENT_AFTER).isBefore(now);
  }

  /** Returns why it is not ready; empty if it is, or has not said so. */
  private static Optional<Condition> notReady(GpuNode node) {
    return Conditions.of(node.getStatus())
        .find(ConditionType.READY)
        .filter(condition -> condition.status() == ConditionValue.FALSE);
  }
}
