package dev.stasis.agent.criu;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The seccomp filters of a target. For each of them, every restored thread needs one that is no
 * laxer.
 */
public final class SeccompLimit {

  private record Pair(SeccompProgram images, SeccompProgram targets) {}

  private final List<SeccompProgram> targets;

  /** Threads share filters, so each pair is compared once. */
  private final Map<Pair, Boolean> compared = new HashMap<>();

  public SeccompLimit(List<SeccompProgram> targets) {
    this.targets = List.copyOf(targets);
  }

  /** Returns whether a thread with these filters can do no more than a thread of the target. */
  public boolean allows(List<SeccompProgram> images) {
    return targets.stream()
        .allMatch(target -> images.stream().anyMatch(image -> isNoLaxer(image, target)));
  }

  private boolean isNoLaxer(SeccompProgram images, SeccompProgram target) {
    return compared.computeIfAbsent(
        new Pair(images, target), pair -> new SeccompComparison(images, target).isNoLaxer());
  }
}
