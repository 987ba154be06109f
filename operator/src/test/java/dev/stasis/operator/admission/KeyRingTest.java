package dev.stasis.operator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyRingTest {

  private static final Set<String> NAMES = Set.of("stasis-webhook.stasis-system.svc", "127.0.0.1");

  private final Instant start = Instant.parse("2026-11-21T10:00:00Z");
  private final KeyRing first = KeyRing.after(Optional.empty(), NAMES, start);

  @Test
  void whatIsInTheSecretIsReadAgain() {
    assertThat(KeyRing.read(first.data())).contains(first);
    assertThat(first.current().names()).isEqualTo(NAMES);
    assertThat(first.current().made()).isEqualTo(start);
  }

  @Test
  void aKeyThatIsYoungStays() {
    assertThat(KeyRing.after(Optional.of(first), NAMES, start.plus(Duration.ofDays(59))))
        .isSameAs(first);
  }

  @Test
  void aNewKeyIsBelievedBeforeItIsServed() {
    Instant old = start.plus(Duration.ofDays(61));
    KeyRing announced = KeyRing.after(Optional.of(first), NAMES, old);
    assertThat(announced.current()).isEqualTo(first.current());
    assertThat(announced.bundle())
        .contains(first.current().certificatePem())
        .contains(announced.next().orElseThrow().certificatePem());

    assertThat(KeyRing.after(Optional.of(announced), NAMES, old.plusSeconds(60)))
        .isSameAs(announced);
    KeyRing changed =
        KeyRing.after(Optional.of(announced), NAMES, old.plus(Duration.ofMinutes(15)));
    assertThat(changed.current()).isEqualTo(announced.next().orElseThrow());
    // Another replica serves the old one until its watch tells it.
    assertThat(changed.bundle()).contains(first.current().certificatePem());
    assertThat(KeyRing.read(changed.data())).contains(changed);
  }

  @Test
  void aKeyForOtherNamesOrOneThatIsOverIsReplacedAtOnce() {
    KeyRing other = KeyRing.after(Optional.of(first), Set.of("other.svc"), start);
    assertThat(other.current().names()).containsExactly("other.svc");
    assertThat(KeyRing.after(Optional.of(first), NAMES, start.plus(Duration.ofDays(91))).current())
        .isNotEqualTo(first.current());
  }

  @Test
  void whatIsNoKeyIsNone() {
    assertThat(KeyRing.read(null)).isEmpty();
    assertThat(KeyRing.read(Map.of())).isEmpty();
    assertThat(KeyRing.read(Map.of("tls.key", "bm9uZQ==", "tls.crt", "bm9uZQ=="))).isEmpty();
  }
}
