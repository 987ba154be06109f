package dev.stasis.operator.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ProbePolicy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LivenessTest {

  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
  private static final String HTTP =
      "livenessProbe: {httpGet: {port: 8080}, periodSeconds: 10, failureThreshold: 3,"
          + " timeoutSeconds: 5}";

  private final Liveness liveness = new Liveness(Clock.fixed(NOW, ZoneOffset.UTC));

  @Test
  void nothingWatchesAPodWithoutProbes() {
    assertThat(judge(pod("", ""), 600)).isEqualTo(new LivenessVerdict.Fits(Optional.empty()));
  }

  @Test
  void aFreezeMayTakeFourFifthsOfTheBudget() {
    assertThat(judge(pod(HTTP, ""), 24))
        .isEqualTo(new LivenessVerdict.Fits(Optional.of(Duration.ofSeconds(24))));
  }

  @Test
  void aProbeThatIsTooShortIsRefusedWithBothTimes() {
    assertThat(faults(judge(pod(HTTP, ""), 25)))
        .singleElement()
        .satisfies(
            fault -> {
              assertThat(fault.reason()).isEqualTo("ProbeTooShort");
              assertThat(fault.message())
                  .isEqualTo(
                      "spec.containers[main].livenessProbe: expected a freeze of 25.0s within 80%"
                          + " of it at any moment, got 30.0s (3 x 10s)");
            });
  }

  @Test
  void oneAllowedFailureEndsTheContainerWhenTheFirstTryTimesOut() {
    String once = "livenessProbe: {httpGet: {port: 8080}, periodSeconds: 60, failureThreshold: 1}";

    assertThat(faults(judge(pod(once, ""), 5))).hasSize(1);
    assertThat(judge(pod(once, ""), 1))
        .isEqualTo(new LivenessVerdict.Fits(Optional.of(Duration.ofSeconds(1))));
  }

  @Test
  void aStartupProbeCountsWhileItHasNotPassed() {
    String startup = "startupProbe: {httpGet: {port: 8080}, periodSeconds: 2, failureThreshold: 3}";

    assertThat(faults(judge(pod(startup, ""), 20))).hasSize(1);
    assertThat(judge(pod(startup, "containerStatuses: [{name: main, started: true}]"), 20))
        .isInstanceOf(LivenessVerdict.Fits.class);
  }

  @Test
  void aReadinessProbeKillsNobody() {
    assertThat(judge(pod("readinessProbe: {httpGet: {port: 1}, periodSeconds: 1}", ""), 600))
        .isInstanceOf(LivenessVerdict.Fits.class);
  }

  @Test
  void theRestOfTheActiveDeadlineLimitsTheFreeze() {
    Pod pod = pod("", "startTime: \"2026-11-21T09:00:00Z\"");
    pod.getSpec().setActiveDeadlineSeconds(3660L);

    assertThat(judge(pod, 48)).isInstanceOf(LivenessVerdict.Fits.class);
    assertThat(faults(judge(pod, 49)))
        .singleElement()
        .satisfies(fault -> assertThat(fault.reason()).isEqualTo("ActiveDeadlineTooShort"));
  }

  @Test
  void theRestOfTheJobsActiveDeadlineLimitsTheFreeze() {
    Liveness.Question question =
        new Liveness.Question(
            pod("", ""),
            "main",
            Duration.ofSeconds(20),
            false,
            ProbePolicy.FAIL,
            Optional.of(NOW.plusSeconds(10)));

    assertThat(faults(liveness.judge(question)))
        .extracting(Fault::property)
        .containsExactly("job.activeDeadlineSeconds");
  }

  @Test
  void withAnswerOnlyExecProbesAreBudgets() {
    String exec = "livenessProbe: {exec: {command: [ask]}, periodSeconds: 10, failureThreshold: 3}";

    assertThat(judge(pod(HTTP, ""), 600, false, ProbePolicy.EMULATE))
        .isEqualTo(new LivenessVerdict.Fits(Optional.empty()));
    assertThat(faults(judge(pod(exec, ""), 600, false, ProbePolicy.EMULATE))).hasSize(1);
    assertThat(judge(pod(exec, ""), 10, false, ProbePolicy.EMULATE))
        .isInstanceOf(LivenessVerdict.Fits.class);
  }

  @Test
  void aSuspendedWorkloadHasNoProbeOrOneThatIsAnswered() {
    String exec = "livenessProbe: {exec: {command: [ask]}, periodSeconds: 999}";

    assertThat(faults(judge(pod(HTTP, ""), 1, true, ProbePolicy.FAIL)))
        .extracting(Fault::found)
        .containsExactly("policy Fail, 30.0s (3 x 10s)");
    assertThat(judge(pod(HTTP, ""), 1, true, ProbePolicy.EMULATE))
        .isInstanceOf(LivenessVerdict.Fits.class);
    assertThat(faults(judge(pod(exec, ""), 1, true, ProbePolicy.EMULATE)))
        .extracting(Fault::wanted)
        .containsExactly("no exec probe on a suspended workload");
    // An agent has no certificate of the workload's.
    assertThat(
            faults(
                judge(
                    pod(HTTP.replace("{httpGet: {", "{httpGet: {scheme: HTTPS, "), ""),
                    1,
                    true,
                    ProbePolicy.EMULATE)))
        .extracting(Fault::wanted)
        .containsExactly("no HTTPS probe on a suspended workload");
  }

  @Test
  void thePodThatHasOnlyJustComeBackMayBeFrozenAgain() {
    String ours =
        "startupProbe: {exec: {command: [/.stasis/stasis-runtime, probe]}, periodSeconds: 1,"
            + " failureThreshold: 18000}";
    String users = "startupProbe: {exec: {command: [ask]}, periodSeconds: 1, failureThreshold: 9}";

    for (ProbePolicy policy : ProbePolicy.values()) {
      assertThat(judge(pod(ours, ""), 600, true, policy)).isInstanceOf(LivenessVerdict.Fits.class);
    }
    assertThat(faults(judge(pod(users, ""), 1, true, ProbePolicy.FAIL))).hasSize(1);
  }

  private LivenessVerdict judge(Pod pod, int seconds) {
    return judge(pod, seconds, false, ProbePolicy.FAIL);
  }

  private LivenessVerdict judge(Pod pod, int seconds, boolean suspends, ProbePolicy policy) {
    return liveness.judge(
        new Liveness.Question(
            pod, "main", Duration.ofSeconds(seconds), suspends, policy, Optional.empty()));
  }

  private static List<Fault> faults(LivenessVerdict verdict) {
    assertThat(verdict).isInstanceOf(LivenessVerdict.TooShort.class);
    return ((LivenessVerdict.TooShort) verdict).faults();
  }

  private static Pod pod(String probe, String status) {
    String yaml =
        """
        kind: Pod
        apiVersion: v1
        spec:
          containers:
          - name: sidecar
            livenessProbe: {httpGet: {port: 1}, periodSeconds: 1, failureThreshold: 1}
          - name: main
            %s
        status:
          %s
        """
            .formatted(probe, status.isEmpty() ? "phase: Running" : status);
    return new KubernetesSerialization().unmarshal(yaml, Pod.class);
  }
}
