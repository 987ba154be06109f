package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** Parts of a file that arrive in any order, from a peer that may mean harm. */
class ArrivedPartsTest {

  private final ArrivedParts parts = new ArrivedParts();

  @Test
  void partsThatTouchOrOverlapAreOne() {
    parts.add(8, 12);
    parts.add(0, 4);
    parts.add(16, 20);
    assertThat(parts.ends()).isEqualTo(Map.of(0L, 4L, 8L, 12L, 16L, 20L));

    parts.add(4, 8);
    parts.add(10, 17);

    assertThat(parts.ends()).isEqualTo(Map.of(0L, 20L));
  }

  @Test
  void aPartThatArrivesAgainChangesNothing() {
    parts.add(0, 20);
    parts.add(0, 4);
    parts.add(8, 20);

    assertThat(parts.ends()).isEqualTo(Map.of(0L, 20L));
  }

  @Test
  void aPeerThatSendsSmallPartsDoesNotFillTheMemory() {
    for (long at = 0; at < 4 * ArrivedParts.MOST; at += 2) {
      parts.add(at, at + 1);
    }

    assertThat(parts.ends()).hasSize(ArrivedParts.MOST);
  }
}
