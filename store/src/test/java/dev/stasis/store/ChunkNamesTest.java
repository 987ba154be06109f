package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ChunkNamesTest {
  private final Random random = new Random(1);

  private List<ChunkName> names(int count) {
    List<ChunkName> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add(new ChunkName(random.nextLong(), 1, 2, 3));
    }
    return names;
  }

  @Test
  void containsWhatWasAddedAndNothingElse() {
    ChunkNames names = new ChunkNames();
    List<ChunkName> added = names(100_000);

    added.forEach(names::add);
    added.subList(0, 1000).forEach(names::add);

    assertThat(added).allMatch(names::contains);
    assertThat(names(100_000)).noneMatch(names::contains);
  }

  @Test
  void containsANameThatBeginsWithZeros() {
    ChunkNames names = new ChunkNames();
    ChunkName zeros = new ChunkName(0, 0, 0, 1);
    assertThat(names.contains(zeros)).isFalse();

    names.add(zeros);

    assertThat(names.contains(zeros)).isTrue();
  }
}
