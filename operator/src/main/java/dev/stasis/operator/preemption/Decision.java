package dev.stasis.operator.preemption;

import java.util.List;
import java.util.SortedMap;

/** What becomes of a preemptor, or of a gang of them. */
public sealed interface Decision {

  /**
   * Room is made.
   *
   * @param rooms one for each preemptor, in their order
   */
  record Take(List<Room> rooms) implements Decision {
    public Take {
      rooms = List.copyOf(rooms);
    }
  }

  /**
   * Room for one preemptor.
   *
   * @param node where
   * @param victims who yields; none: it fits there already
   * @param why the decision in numbers
   */
  record Room(String node, List<Candidate> victims, String why) {
    public Room {
      victims = List.copyOf(victims);
    }
  }

  /**
   * Nobody is touched: it would still not fit.
   *
   * @param missing for each node, what stands against it
   */
  record Nothing(SortedMap<String, String> missing) implements Decision {
    public Nothing {
      missing = java.util.Collections.unmodifiableSortedMap(new java.util.TreeMap<>(missing));
    }
  }
}
