package dev.stasis.operator.holder;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StandingTest {

  @Test
  void aFailedJobIsReportedWithItsCauseAndRemedy() {
    assertThat(
            makesNone(
                "Job",
                Map.of("parallelism", 1),
                condition("Suspended", "False", "JobResumed"),
                condition("Failed", "True", "BackoffLimitExceeded")))
        .isEqualTo(
            "has failed (BackoffLimitExceeded): delete it to restore the workload as a bare pod");
  }

  @Test
  void aCompleteJobCreatesNoPod() {
    assertThat(makesNone("Job", Map.of(), condition("Complete", "True", "CompletionsReached")))
        .startsWith("is complete");
  }

  @Test
  void aSuspendedJobIsReportedWithItsRemedy() {
    assertThat(
            makesNone(
                "Job", Map.of("suspend", true), condition("Suspended", "True", "JobSuspended")))
        .isEqualTo("is suspended: set its spec.suspend to false");
  }

  @Test
  void aControllerScaledToZeroCreatesNoPod() {
    assertThat(makesNone("StatefulSet", Map.of("replicas", 0))).startsWith("is scaled to 0");
    assertThat(makesNone("Job", Map.of("parallelism", 0))).startsWith("is scaled to 0");
  }

  @Test
  void aControllerThatCreatesItsPodIsNotReported() {
    assertThat(makesNone("ReplicaSet", Map.of("replicas", 2))).isEqualTo("makes one");
    assertThat(makesNone("Job", Map.of("suspend", false, "parallelism", 1))).isEqualTo("makes one");
    assertThat(makesNone("Job", Map.of(), condition("Failed", "False", "x")))
        .isEqualTo("makes one");
    assertThat(makesNone("Trainer", Map.of(), condition("Failed", "True", "x")))
        .isEqualTo("makes one");
  }

  @SafeVarargs
  private static String makesNone(
      String kind, Map<String, Object> spec, Map<String, String>... conditions) {
    GenericKubernetesResource controller = new GenericKubernetesResource();
    controller.setKind(kind);
    controller.setAdditionalProperty("spec", spec);
    controller.setAdditionalProperty("status", Map.of("conditions", List.of(conditions)));
    return Standing.of(controller).makesNone().orElse("makes one");
  }

  private static Map<String, String> condition(String type, String status, String reason) {
    return Map.of("type", type, "status", status, "reason", reason);
  }
}
