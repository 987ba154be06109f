package dev.stasis.operator.owner;

import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * Evicts a pod whose workload is saved. Its controller first hands it over, so that no other pod
 * starts cold in its place and nothing counts as failed.
 */
public final class PodEvictor {

  private final PodWrites pods;
  private final Departure departure;

  public PodEvictor(PodWrites pods, Departure departure) {
    this.pods = pods;
    this.departure = departure;
  }

  /** What came of it. */
  public sealed interface Result {}

  /** The pod is evicted, or would be. */
  public record Evicted() implements Result {}

  /** The controller does not hand over the pod, or has not done so yet. */
  public record OwnerLives(String message) implements Result {}

  /**
   * The API server refuses the eviction.
   *
   * @param later whether it may accept it later, without anything being changed
   */
  public record Refused(String message, boolean later) implements Result {}

  /** Returns the result that an eviction would have; changes nothing. */
  public Result dryRun(Pod pod) {
    Optional<String> refusal = Owners.of(pod).isPresent() ? departure.refusal() : Optional.empty();
    return result(pod, refusal, true);
  }

  /** Hands the pod over, then evicts it. */
  public Result evict(Pod pod) {
    return result(pod, departure.prepare(pod), false);
  }

  private Result result(Pod pod, Optional<String> owner, boolean dryRun) {
    if (owner.isPresent()) {
      return new OwnerLives(owner.get());
    }
    return pods.evict(pod, dryRun) instanceof PodWrites.Refused refused
        ? new Refused(refused.sentence(), refused.later())
        : new Evicted();
  }
}
