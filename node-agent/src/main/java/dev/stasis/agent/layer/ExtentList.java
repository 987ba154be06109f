package dev.stasis.agent.layer;

import java.util.AbstractList;
import java.util.Arrays;

/** Extents at sixteen bytes each: a sparse file may have several 100,000 of them. */
final class ExtentList extends AbstractList<LayerEntry.Extent> {
  private long[] numbers = new long[16];
  private int size;

  void append(long offset, long length) {
    if (2 * size == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * (size + size / 2));
    }
    numbers[2 * size] = offset;
    numbers[2 * size + 1] = length;
    size++;
  }

  @Override
  public LayerEntry.Extent get(int index) {
    return new LayerEntry.Extent(numbers[2 * index], numbers[2 * index + 1]);
  }

  @Override
  public int size() {
    return size;
  }
}
