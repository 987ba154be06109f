package dev.stasis.operator.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SmokeTestTest {

  private static SmokeTestSettings settings() {
    return SmokeTestSettings.of(
        "--namespace=stasis-system",
        "--name=stasis-test-workload",
        "--service-account=stasis-test",
        "--image=registry.test/agent:1",
        "--gpu-resource=example.com/gpu",
        "--runtime-class=nvidia",
        "--timeout=90");
  }

  @Test
  void thePodPassesTheLevelRestrictedAndAsksForOneGpu() {
    Pod pod = SmokeTestPod.of(settings());
    var container = pod.getSpec().getContainers().get(0);
    assertThat(pod.getSpec().getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(pod.getSpec().getSecurityContext().getSeccompProfile().getType())
        .isEqualTo("RuntimeDefault");
    assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
    assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
    assertThat(pod.getSpec().getVolumes()).isEmpty();
    assertThat(container.getResources().getLimits()).containsKey("example.com/gpu");
    assertThat(pod.getSpec().getRuntimeClassName()).isEqualTo("nvidia");
    assertThat(pod.getSpec().getAutomountServiceAccountToken()).isFalse();
  }

  @Test
  void theArgumentsAreApplied() {
    assertThat(settings().atMost()).isEqualTo(Duration.ofSeconds(90));
    assertThat(settings().pullPolicy()).isEqualTo("IfNotPresent");
    assertThatThrownBy(() -> SmokeTestSettings.of("--namespace=a"))
        .hasMessage("--name: expected a value, got none");
  }

  @Test
  void onlyStepsCountAndWrongOnesAreSeen() {
    assertThat(CountedStep.of("step 12 sum 9f ok")).hasValue(new CountedStep(12, true));
    assertThat(CountedStep.of("step 13 sum 9f BAD")).hasValue(new CountedStep(13, false));
    assertThat(CountedStep.of("waiting for the restore")).isEmpty();
  }

  /** A log begins with what was printed long before the checkpoint. */
  @Test
  void aRestoredProgramPassesAndARestartedOneFails() {
    SavedSteps saved = new SavedSteps(47, 63);
    for (long first : new long[] {48, 51, 64}) {
      assertThatCode(() -> saved.mustPrecede(new CountedStep(first, true)))
          .doesNotThrowAnyException();
    }
    assertThatThrownBy(() -> saved.mustPrecede(new CountedStep(1, true)))
        .hasMessage("first step after the restore: expected one from 48 to 64, got 1");
    assertThatThrownBy(() -> saved.mustPrecede(new CountedStep(65, true)))
        .isInstanceOf(SmokeTestFailure.class);
  }
}
