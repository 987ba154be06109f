package dev.stasis.agent.engine;

import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Which parts of a file have arrived, in any order. */
final class ArrivedParts {

  /**
   * Chunks of zeros are holes, which are not sent and separate the parts; a GPU has tens of
   * thousands of chunks at most. A peer could send more and smaller parts, which would fill the
   * memory of the agent: they are read from the file later.
   */
  static final int MOST = 1 << 16;

  private final NavigableMap<Long, Long> ends = new TreeMap<>();

  /** Adds a part, which may overlap others. */
  void add(long from, long to) {
    long begin = from;
    long end = to;
    Map.Entry<Long, Long> before = ends.floorEntry(from);
    if (before != null && before.getValue() >= from) {
      begin = before.getKey();
      end = Math.max(end, before.getValue());
    }
    for (Map.Entry<Long, Long> next = ends.ceilingEntry(begin);
        next != null && next.getKey() <= end;
        next = ends.higherEntry(begin)) {
      end = Math.max(end, next.getValue());
      ends.remove(next.getKey());
    }
    if (ends.size() < MOST) {
      ends.put(begin, end);
    }
  }

  /** Returns the end of each part by its beginning; parts do not touch. */
  Map<Long, Long> ends() {
    return Collections.unmodifiableMap(ends);
  }
}
