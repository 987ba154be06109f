package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.Stream;

/** A schedule of the shortest period there is, which brings back what fails of app=trainer. */
record Often(Scenario scenario) {

  private static final String NAME = "often";

  void apply(String more) {
    scenario.apply(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuCheckpointSchedule
        metadata: {name: %s}
        spec:
          selector: {matchLabels: {app: trainer}}
          schedule: "* * * * *"
          checkpoint: {retention: {keepLast: 3}}
          restoreOnFailure: {maxRestores: 3, window: 1h}
          options:
            jitter: 0s
        %s\
        """
            .formatted(NAME, more));
  }

  /** What a path of JSON finds in it. */
  String says(String path) {
    return scenario.kubectl("get", "gsched", NAME, "-o", "jsonpath={" + path + "}");
  }

  /** No more runs, so that the newest one stays the newest. */
  void pause() {
    scenario.kubectl(
        "patch", "gsched", NAME, "--type=merge", "-p", "{\"spec\":{\"suspend\":true}}");
    scenario.until("no run will begin", () -> says(".status.reason").equals("Paused"));
    scenario.until(
        "no run is at work",
        () -> checkpoints().allMatch(it -> phase(it) == CheckpointPhase.READY));
  }

  /** As the operator would: one more run, without the minute until it is due. */
  void asIfTaken(String name, Pod pod, String... more) {
    String subject =
        "podRef: {name: %s, uid: %s}"
            .formatted(pod.getMetadata().getName(), pod.getMetadata().getUid());
    scenario.apply(Request.yaml(GpuCheckpoint.class, name, subject, more));
    new CheckpointRequest(scenario, name).awaitReady();
    scenario.kubectl(
        "label",
        "gckpt",
        name,
        "stasis.dev/operation-uid=" + says(".metadata.uid"),
        "--as=system:serviceaccount:%s:stasis-operator"
            .formatted(scenario.installation().namespace()));
  }

  List<GpuCheckpoint> ready() {
    return checkpoints().filter(it -> phase(it) == CheckpointPhase.READY).toList();
  }

  private Stream<GpuCheckpoint> checkpoints() {
    return scenario.all(GpuCheckpoint.class).stream();
  }

  private static @org.jspecify.annotations.Nullable CheckpointPhase phase(GpuCheckpoint one) {
    return one.getStatus() == null ? null : one.getStatus().getPhase();
  }

  /** Processes of the workload on this machine, which is every node. */
  Stream<ProcessHandle> processes() {
    return ProcessHandle.allProcesses()
        .filter(it -> it.info().command().filter(c -> c.endsWith("gpu-counter")).isPresent())
        .filter(
            it ->
                it.info()
                    .commandLine()
                    .filter(c -> c.contains(new StepFile(scenario).path()))
                    .isPresent())
        .filter(it -> it.info().commandLine().filter(c -> c.contains("--verify")).isEmpty());
  }

  /** From outside: the first process of a container is deaf to its own. */
  void killAll() {
    processes().forEach(ProcessHandle::destroyForcibly);
  }
}
