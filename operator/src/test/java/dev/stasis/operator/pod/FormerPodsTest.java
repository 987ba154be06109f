package dev.stasis.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import org.junit.jupiter.api.Test;

class FormerPodsTest {

  @Test
  void theLastPodIsFirst() {
    assertThat(FormerPods.after(pod("b", "a")).text()).isEqualTo("b,a");
  }

  @Test
  void aPodThatWasNeverRestoredHasNone() {
    assertThat(FormerPods.of(null).uids()).isEmpty();
    assertThat(FormerPods.after(new ObjectMeta()).uids()).isEmpty();
  }

  @Test
  void theAnnotationOfAPodThatMovesOftenStaysShort() {
    String former = "0";
    for (int i = 1; i < 100; i++) {
      former = FormerPods.after(pod(String.valueOf(i), former)).text();
    }

    assertThat(FormerPods.of(former).uids()).hasSize(16).startsWith("99", "98").endsWith("84");
  }

  private static ObjectMeta pod(String uid, String former) {
    return new ObjectMetaBuilder()
        .withUid(uid)
        .addToAnnotations(Api.FORMER_PODS_ANNOTATION, former)
        .build();
  }
}
