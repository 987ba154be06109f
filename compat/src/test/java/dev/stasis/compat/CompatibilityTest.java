package dev.stasis.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CompatibilityTest {
  private final Random random = new Random(9);

  @Test
  void everythingFitsItself() {
    for (int i = 0; i < 500; i++) {
      Fingerprint any = Examples.randomFingerprint(random);
      assertThat(Compatibility.check(any, any).mismatches()).isEmpty();
    }
  }

  @Test
  void aWorkloadWithoutRequirementsFitsEverywhere() {
    Compatibility compatibility = Compatibility.check(Fingerprint.empty(), Examples.workload());

    assertThat(compatibility.fits()).isTrue();
    assertThat(compatibility.sentence()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void eachWorsenedPropertyIsExactlyOneMismatch(Property property) {
    Fingerprint wanted = Examples.workload();
    for (String other : Examples.VALUES.getOrDefault(property, List.of())) {
      Fingerprint found = wanted.with(property, other);
      if (found.equals(wanted)) {
        continue;
      }
      assertThat(Compatibility.check(wanted, found).mismatches())
          .containsExactly(new Mismatch(property, wanted.value(property).orElseThrow(), other));
      assertThat(Compatibility.check(wanted, found).fits()).isEqualTo(!property.hard());
    }
  }

  @Test
  void eachPropertyIsComparedIndependently() {
    for (int i = 0; i < 500; i++) {
      Fingerprint wanted = Examples.randomFingerprint(random);
      Fingerprint found = Examples.randomFingerprint(random);
      List<Mismatch> alone =
          wanted.values().entrySet().stream()
              .map(want -> Fingerprint.empty().with(want.getKey(), want.getValue()))
              .flatMap(want -> Compatibility.check(want, found).mismatches().stream())
              .toList();
      assertThat(Compatibility.check(wanted, found).mismatches()).isEqualTo(alone);
    }
  }

  @Test
  void compatibilityIsTransitive() {
    for (int i = 0; i < 5000; i++) {
      // One value of the table each: lists of GPUs of different lengths compare what both have.
      Property property = Property.values()[random.nextInt(Property.values().length)];
      List<String> values = Examples.VALUES.getOrDefault(property, List.of());
      Fingerprint a = one(property, values);
      Fingerprint b = one(property, values);
      Fingerprint c = one(property, values);
      if (Compatibility.check(a, b).fits() && Compatibility.check(b, c).fits()) {
        assertThat(Compatibility.check(a, c).fits()).as("%s %s %s", a, b, c).isTrue();
      }
    }
  }

  @Test
  void everyMismatchIsNamedInOneLineWithBothValues() {
    Fingerprint found =
        Examples.workload()
            .with(Property.GPU_DRIVER, "575.57.08")
            .with(Property.GPU_COUNT, "1")
            .without(Property.CRIU_VERSION);

    assertThat(Compatibility.check(Examples.workload(), found).sentence())
        .isEqualTo(
            "criu.version: expected 4.2.1, got unknown; gpu.count: expected 2, got 1;"
                + " gpu.driver: expected 580.159.04, got 575.57.08");
  }

  private Fingerprint one(Property property, List<String> values) {
    return Fingerprint.empty().with(property, values.get(random.nextInt(values.size())));
  }
}
