package dev.stasis.agent.mover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.MappingUse;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.artifact.Region;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The mover copies large private memory; what is rare or odd is criu's. */
class RegionFinderTest {

  private static final long MIB = 1 << 20;
  private static final long START = 0x7f0000000000L;

  @Test
  void largePrivateMemoryIsTheMovers() {
    assertThat(large("rw-p", "", 64 * MIB, 0, 0, "rd")).containsExactly(region(0, 64));
    assertThat(large("rw-p", "", 60 * MIB, 0, 0, "rd")).containsExactly(region(0, 64));
    assertThat(large("rw-p", "[heap]", 64 * MIB, 0, 0, "rd")).containsExactly(region(0, 64));
  }

  @ParameterizedTest
  @CsvSource({
    "r--p,, 64, 0, 0, rd", // nothing that a restore could write to
    "rw-s,, 64, 0, 0, rd",
    "r--p, [heap], 64, 0, 0, rd",
    "rw-p, [stack], 64, 0, 0, rd",
    "rw-p,, 59, 0, 0, rd", // a reservation with holes
    "rw-p,, 64, 1, 0, rd", // shared with a forked child
    "rw-p,, 60, 0, 4, rd", // swapped out
    "rw-p,, 64, 0, 0, lo",
    "rw-p,, 64, 0, 0, ss",
    "rw-p,, 64, 0, 0, dp",
    "rw-p,, 64, 0, 0, gu",
    "rw-p,, 64, 0, 0, nh",
  })
  void everythingElseIsCrius(
      String rights, String path, long rss, long shared, long swap, String flag) {
    assertThat(large(rights, path == null ? "" : path, rss * MIB, shared * MIB, swap * MIB, flag))
        .isEmpty();
  }

  @Test
  void aCopiedRegionIsNotCopiedAgain() {
    MappingUse use = use("rw-p", "", 64 * MIB, 0, 0, "rd");

    assertThat(new RegionFinder().large(List.of(use), List.of(region(10, 20), region(63, 1))))
        .containsExactly(region(0, 10), region(30, 33));
    assertThat(new RegionFinder().large(List.of(use), List.of(region(2, 62)))).isEmpty();
  }

  private static List<Region> large(
      String rights, String path, long rss, long shared, long swap, String flag) {
    return new RegionFinder().large(List.of(use(rights, path, rss, shared, swap, flag)), List.of());
  }

  private static Region region(long atMib, long mib) {
    return new Region(START + atMib * MIB, mib * MIB);
  }

  private static MappingUse use(
      String rights, String path, long rss, long shared, long swap, String flag) {
    MemoryMapping mapping = new MemoryMapping(START, START + 64 * MIB, rights, "00:00", 0, path);
    return new MappingUse(mapping, rss, 0, shared, swap, Set.of(flag, "mr"));
  }
}
