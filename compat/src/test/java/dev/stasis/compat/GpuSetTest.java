package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GpuSetTest {
  private static GpuSet nvlinked(int n) {
    return new GpuSet(
        Examples.DRIVER, Collections.nCopies(n, Examples.H200), Links.alike(n, Link.nvlink(18)));
  }

  @Test
  void everyChoiceFulfilsWhatIsPromised() {
    Random random = new Random(21);
    for (int i = 0; i < 300; i++) {
      GpuSet all = Examples.randomGpus(random);
      for (int n = 1; n <= all.gpus().size(); n++) {
        Optional<Fingerprint> promise = all.everyChoiceOf(n);
        if (promise.isPresent()) {
          for (List<Integer> places : Examples.choices(all.gpus().size(), n)) {
            Fingerprint got = Examples.choice(all, places).fingerprint();
            assertThat(Compatibility.check(promise.get(), got).mismatches())
                .as("%s of %s", places, all)
                .isEmpty();
          }
        }
      }
    }
  }

  @Test
  void allGpusOfANodeAreAChoiceWithoutAnAlternative() {
    Random random = new Random(22);
    for (int i = 0; i < 100; i++) {
      GpuSet all = Examples.randomGpus(random);
      assertThat(all.everyChoiceOf(all.gpus().size())).contains(all.fingerprint());
    }
  }

  @Test
  void theWeakestPairCounts() {
    GpuSet twoPairs =
        new GpuSet(
            Examples.DRIVER,
            List.of(Examples.H200, Examples.H200, Examples.H200, Examples.H200),
            Links.of(4, (i, j) -> i / 2 == j / 2 ? Link.nvlink(18) : Link.of(Link.Kind.SYS)));

    assertThat(twoPairs.everyChoiceOf(2).flatMap(f -> f.value(Property.GPU_INTERCONNECT)))
        .contains("SYS");
    assertThat(twoPairs.everyChoiceOf(4).flatMap(f -> f.value(Property.GPU_INTERCONNECT)))
        .contains("0-1=NV18 0-2=SYS 0-3=SYS 1-2=SYS 1-3=SYS 2-3=NV18");
  }

  @Test
  void nothingIsPromisedWhereModelsDiffer() {
    GpuSet mixed =
        new GpuSet(
            Examples.DRIVER,
            List.of(Examples.H200, Examples.A100),
            Links.alike(2, Link.of(Link.Kind.PHB)));

    assertThat(mixed.everyChoiceOf(1)).isEmpty();
    assertThat(mixed.everyChoiceOf(2).flatMap(f -> f.value(Property.GPU_MODEL)))
        .contains("NVIDIA H200 | NVIDIA A100-SXM4-80GB");
  }

  @Test
  void nothingIsPromisedOfSlicesOrOfMoreGpusThanThereAre() {
    GpuSet sliced =
        new GpuSet(
            Examples.DRIVER,
            List.of(new Gpu("NVIDIA H200", 143771, "9.0", true)),
            Links.parse("None"));

    assertThat(sliced.everyChoiceOf(1)).isEmpty();
    assertThat(sliced.fingerprint().value(Property.GPU_MIG)).contains("Enabled");
    assertThat(nvlinked(2).everyChoiceOf(3)).isEmpty();
    assertThat(nvlinked(2).everyChoiceOf(0)).isEmpty();
  }

  @Test
  void aNodeWithoutGpusHasNoFingerprint() {
    assertThatThrownBy(() -> nvlinked(0).fingerprint())
        .hasMessage("gpu.count: expected at least 1, got 0");
  }
}
