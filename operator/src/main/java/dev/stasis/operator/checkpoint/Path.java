package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Phases from one to another: an agent may be through several before the operator looks, or while
 * there is none.
 */
final class Path {

  private Path() {}

  /**
   * The phases to enter; none when it is that phase already.
   *
   * @throws IllegalStateException when no way leads there
   */
  static List<CheckpointPhase> between(CheckpointPhase from, CheckpointPhase to) {
    if (from == to) {
      return List.of();
    }
    Map<CheckpointPhase, CheckpointPhase> cameFrom = new EnumMap<>(CheckpointPhase.class);
    Deque<CheckpointPhase> open = new ArrayDeque<>(List.of(from));
    while (!open.isEmpty() && !cameFrom.containsKey(to)) {
      CheckpointPhase at = open.remove();
      // In the order of the constants, so that the same two phases always give the same way.
      for (CheckpointPhase next : CheckpointPhase.values()) {
        if (at.successors().contains(next)
            && next != from
            && isOnTheWay(next, to)
            && !cameFrom.containsKey(next)) {
          cameFrom.put(next, at);
          open.add(next);
        }
      }
    }
    if (!cameFrom.containsKey(to)) {
      throw new IllegalStateException(
          "phase: no way leads from " + from.value() + " to " + to.value());
    }
    List<CheckpointPhase> way = new ArrayList<>();
    CheckpointPhase at = to;
    while (at != null && at != from) {
      way.add(at);
      at = cameFrom.get(at);
    }
    Collections.reverse(way);
    return way;
  }

  /** What is frozen is never imported, though that way would be the shorter one. */
  private static boolean isOnTheWay(CheckpointPhase next, CheckpointPhase to) {
    return next != CheckpointPhase.IMPORTING || to == CheckpointPhase.IMPORTING;
  }
}
