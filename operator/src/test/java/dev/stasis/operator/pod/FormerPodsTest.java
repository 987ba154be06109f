package dev.stasis.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FormerPodsTest {

  private static final Instant LATER = Instant.parse("2026-11-21T10:01:00Z");

  @Test
  void theLastPodIsFirst() {
    assertThat(FormerPods.after(pod("b", "a@2026-11-21T10:00:00Z"), LATER).text())
        .isEqualTo("b@2026-11-21T10:01:00Z,a@2026-11-21T10:00:00Z");
  }

  /** It ends the pod, so all of its states are states of the workload. */
  @Test
  void aMigrationKeepsTheStateThatWasCopied() {
    assertThat(FormerPods.after(pod("b", "a@2026-11-21T10:00:00Z"), null).text())
        .isEqualTo("b,a@2026-11-21T10:00:00Z");
  }

  /** The checkpoint may be older than the pod's last state. */
  @Test
  void aCopyOfAMigratedPodHasNoLaterStateOfAnyPod() {
    assertThat(FormerPods.after(pod("b", "a"), LATER).text())
        .isEqualTo("b@2026-11-21T10:01:00Z,a@2026-11-21T10:01:00Z");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a@", "a@yesterday", "a@@"})
  void anEntryThatAUserChangedIsIgnored(String entry) {
    assertThat(FormerPods.of(entry + ",b").uids()).containsExactly("b");
  }

  @Test
  void aPodThatWasNeverRestoredHasNone() {
    assertThat(FormerPods.of(null).uids()).isEmpty();
    assertThat(FormerPods.after(new ObjectMeta(), LATER).uids()).isEmpty();
  }

  @Test
  void theAnnotationOfAPodThatMovesOftenStaysShort() {
    String former = "0";
    for (int i = 1; i < 100; i++) {
      former = FormerPods.after(pod(String.valueOf(i), former), null).text();
    }

    assertThat(FormerPods.of(former).uids()).hasSize(16).contains("99", "98", "84");
  }

  private static ObjectMeta pod(String uid, String former) {
    return new ObjectMetaBuilder()
        .withUid(uid)
        .addToAnnotations(Api.FORMER_PODS_ANNOTATION, former)
        .build();
  }
}
