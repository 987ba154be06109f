package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the usual workload writes what it prints too: a file in an emptyDir, which belongs to the
 * checkpoint, so that it has every line since the very first start.
 */
record StepFile(Scenario scenario) {

  private static final Pattern VERIFIED = Pattern.compile("verified ([0-9]+) steps");

  /** Also a mark by which its processes are told from all others of a machine. */
  String path() {
    return "/log/" + scenario.namespace();
  }

  /** That pod, with such a file. */
  PodBuilder in(PodBuilder pod) {
    return pod.editSpec()
        .addNewVolume()
        .withName("log")
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
        .editFirstContainer()
        .addToCommand("--file", path())
        .addNewVolumeMount()
        .withName("log")
        .withMountPath("/log")
        .endVolumeMount()
        .endContainer()
        .endSpec();
  }

  /**
   * Has the workload's own program check in the pod that one line follows from the other.
   *
   * @return how many there are
   */
  long verify(String pod) {
    String said =
        scenario
            .exec(
                pod,
                "/bin/gpu-counter",
                "--verify",
                path(),
                "--mib",
                Integer.toString(Workload.MIB))
            .output();
    Matcher verified = VERIFIED.matcher(said);
    if (!verified.find()) {
      throw new AssertionError("pod " + pod + ": expected steps, got " + said);
    }
    return Long.parseLong(verified.group(1));
  }

  /**
   * The same of a pod that came back: it is Ready, and nothing was lost, repeated or begun anew.
   */
  void verifyCameBack(String pod) {
    Pod back = scenario.awaitPod(pod, "is Ready", StepFile::isReady);
    if (back.getStatus().getContainerStatuses().stream().anyMatch(it -> it.getRestartCount() > 0)) {
      throw new AssertionError("pod " + pod + " was started again by its kubelet");
    }
    verify(pod);
    List<String> here = Workload.of(scenario, pod).someSteps();
    if (here.get(0).startsWith("step 1 ")) {
      throw new AssertionError("pod " + pod + " was started cold: it counts from the beginning");
    }
  }

  static boolean isReady(Pod pod) {
    return pod.getStatus().getConditions().stream()
        .anyMatch(each -> each.getType().equals("Ready") && each.getStatus().equals("True"));
  }
}
