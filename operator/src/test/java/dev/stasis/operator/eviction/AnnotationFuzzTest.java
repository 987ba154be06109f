package dev.stasis.operator.eviction;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** What users write on their pods. */
class AnnotationFuzzTest {

  @FuzzTest
  void anyDeadlineIsReadOrTheUsualOneHolds(byte[] text) {
    Duration deadline =
        EvictionAttempt.deadline(
            new PodBuilder()
                .withNewMetadata()
                .addToAnnotations(
                    Api.EVICT_DEADLINE_ANNOTATION, new String(text, StandardCharsets.UTF_8))
                .endMetadata()
                .build(),
            new EvictionSettings(Duration.ofMinutes(10), Duration.ofMinutes(1)));
    if (deadline.compareTo(Duration.ofHours(168)) > 0 || deadline.isNegative()) {
      throw new AssertionError("deadline: " + deadline);
    }
  }
}
