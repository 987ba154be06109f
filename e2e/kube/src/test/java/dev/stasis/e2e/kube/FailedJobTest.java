package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The workload of a Job's pod is killed, and a schedule with restoreOnFailure has saved it. */
@ExtendWith(OnACluster.class)
class FailedJobTest {

  /** One more than there are failures here: a Job ends its pods once it has seen so many. */
  private static final int BACKOFF_LIMIT = 3;

  @Test
  void aContainerThatWasStartedColdIsReplacedByTheNextPodOfItsJob(Scenario scenario) {
    try (PodsSeen seen = PodsSeen.from(scenario)) {
      Pod source = started(scenario, "OnFailure");
      Often often = saved(scenario, source);

      often.killAll();

      scenario.until(
          "the next pod has taken its place",
          () ->
              scenario.pods().stream().anyMatch(pod -> !is(pod, source) && StepFile.isReady(pod)));
      assertThat(scenario.pods()).hasSize(1);
      new StepFile(scenario).verifyCameBack(scenario.pods().get(0).getMetadata().getName());
      assertThat(seen.most()).as("pods of the Job at once").isEqualTo(1);
      assertThat(seen.all()).as("the source, the target, and no third").isEqualTo(2);
      JobStatus status = job(scenario);
      assertThat(status.getFailed()).isIn(null, 0);
      assertThat(status.getConditions()).isEmpty();
    }
  }

  @Tag("long")
  @Test
  void aFailedPodOfAJobIsLeftToItsJobWithAnEvent(Scenario scenario) {
    Pod source = started(scenario, "Never");
    Often often = saved(scenario, source);

    often.killAll();

    scenario.until("it is said", () -> said(scenario).contains("Job trainer creates another pod"));
    scenario.until(
        "its Job has made another one",
        () -> scenario.pods().stream().anyMatch(pod -> !is(pod, source) && StepFile.isReady(pod)));
    // It counts by itself, a while after it has seen the end.
    scenario.until(
        "its Job counts one failure", () -> Integer.valueOf(1).equals(job(scenario).getFailed()));
    assertThat(often.says(".status.restores")).isBlank();
    assertThat(scenario.all(GpuRestore.class)).isEmpty();
  }

  private static Pod started(Scenario scenario, String restartPolicy) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: only on nodes of this machine can a test kill a first process");
    scenario.apply(
        new Controllers(scenario)
            .job(restartPolicy, pod -> new StepFile(scenario).in(pod))
            .editSpec()
            .withBackoffLimit(BACKOFF_LIMIT)
            .endSpec()
            .build());
    scenario.until("a pod", () -> scenario.pods().size() == 1);
    return scenario.pods().get(0);
  }

  private static Often saved(Scenario scenario, Pod source) {
    Workload workload = Workload.of(scenario, source.getMetadata().getName());
    Often often = new Often(scenario);
    often.apply("");
    often.pause();
    often.asIfTaken("first", source);
    workload.awaitSteps(3);
    return often;
  }

  private static boolean is(Pod pod, Pod other) {
    return pod.getMetadata().getUid().equals(other.getMetadata().getUid());
  }

  private static String said(Scenario scenario) {
    return scenario.kubectl(
        "get",
        "events",
        "--field-selector=reason=NotBroughtBack",
        "-o",
        "jsonpath={.items[*].message}");
  }

  private static JobStatus job(Scenario scenario) {
    return Present.in("the Job", scenario.find(Job.class, "trainer")).getStatus();
  }
}
