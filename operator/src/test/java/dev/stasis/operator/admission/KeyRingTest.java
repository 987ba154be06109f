package dev.stasis.operator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyRingTest {

  private static final Set<String> NAMES = Set.of("stasis-webhook.stasis-system.svc", "127.0.0.1");

  private final Instant start = Instant.parse("2026-11-21T10:00:00Z");
  private final KeyRing first = KeyRing.after(Optional.empty(), NAMES, start);

  @Test
  void keysSurviveTheSecret() {
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
  void aTokenIsAcceptedBeforeAndAfterItIsInUse() {
    Instant old = start.plus(Duration.ofDays(61));
    KeyRing announced = KeyRing.after(Optional.of(first), NAMES, old);
    String next = announced.next().orElseThrow().token();
    assertThat(announced.tokens(old)).containsExactlyInAnyOrder(first.current().token(), next);

    Instant later = old.plus(Duration.ofMinutes(15));
    KeyRing changed = KeyRing.after(Optional.of(announced), NAMES, later);
    assertThat(changed.current().token()).isEqualTo(next).hasSize(64);
    assertThat(changed.tokens(later)).containsExactlyInAnyOrder(first.current().token(), next);
    KeyRing renamed = KeyRing.after(Optional.of(changed), Set.of("other.svc"), later);
    assertThat(renamed.current().token()).isEqualTo(next);
  }

  /** Replicas of the version before answer only paths without a token. */
  @Test
  void anUpgradeAsksWithoutATokenUntilTheOldReplicasAreGone() {
    Map<String, String> written = new HashMap<>(first.data());
    written.remove("tls.token");
    KeyRing before = KeyRing.read(written).orElseThrow();
    KeyRing announced = KeyRing.after(Optional.of(before), NAMES, start);
    assertThat(HookPaths.path(announced.current().token(), "evict")).isEqualTo("/evict");
    String next = announced.next().orElseThrow().token();
    assertThat(announced.tokens(start)).containsExactlyInAnyOrder("", next);

    Instant later = start.plus(Duration.ofMinutes(15));
    KeyRing changed = KeyRing.after(Optional.of(announced), NAMES, later);
    assertThat(HookPaths.path(changed.current().token(), "evict")).hasSize(1 + 64 + 6);
    assertThat(changed.tokens(later)).containsExactlyInAnyOrder("", next);
    assertThat(changed.tokens(start.plus(Duration.ofMinutes(30)))).containsExactly(next);
    assertThat(KeyRing.read(changed.data())).contains(changed);
  }

  @Test
  void theCertificateMaySignNothing() throws Exception {
    assertThat(first.current().certificate().getBasicConstraints()).isEqualTo(-1);
    assertThat(first.current().certificate().getExtendedKeyUsage())
        .containsExactly("1.3.6.1.5.5.7.3.1");
    boolean[] usage = first.current().certificate().getKeyUsage();
    assertThat(usage[0]).isTrue();
    assertThat(usage[5]).as("keyCertSign").isFalse();
  }

  @Test
  void anInvalidKeyIsIgnored() {
    assertThat(KeyRing.read(null)).isEmpty();
    assertThat(KeyRing.read(Map.of())).isEmpty();
    assertThat(KeyRing.read(Map.of("tls.key", "bm9uZQ==", "tls.crt", "bm9uZQ=="))).isEmpty();
  }
}
