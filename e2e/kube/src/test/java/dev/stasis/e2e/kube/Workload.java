package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A pod with gpu-counter: each of its lines can be checked, and one line follows from the other, so
 * that a step lost, repeated or wrong is found, over any number of restores.
 */
final class Workload {

  /** Name of the container. */
  static final String CONTAINER = "main";

  /** Small, so that a freeze is quick; more than a page cache would hide. */
  static final int MIB = 8;

  /** A kubelet tells of a container's end within a few seconds; a busy machine is given time. */
  private static final Duration ENDED_WITHIN = Duration.ofSeconds(20);

  /** A node whose container has just ended, or is busy, may never answer a command. */
  private static final Duration COMMAND = Duration.ofSeconds(60);

  private static final Pattern STEP = Pattern.compile("step [0-9]+ sum [0-9a-f]+ .*");

  private final Scenario scenario;
  private final int mib;
  private final List<String> before;
  private final String name;

  private Workload(Scenario scenario, String name, int mib, List<String> before) {
    this.scenario = scenario;
    this.name = name;
    this.mib = mib;
    this.before = List.copyOf(before);
  }

  /** A pod with one GPU that counts, as a user would write it. */
  static PodBuilder pod(Scenario scenario, String name, int mib) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Always")
        .withDnsPolicy("Default")
        // A pod that is deleted ends at once: the counter ends on SIGTERM, its holder too.
        .withTerminationGracePeriodSeconds(5L)
        .addNewContainer()
        .withName(CONTAINER)
        .withImage(scenario.installation().workloadImage())
        .withImagePullPolicy("IfNotPresent")
        .withCommand("/bin/gpu-counter", "--mib", Integer.toString(mib), "--interval-ms", "200")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec();
  }

  /** Starts the usual pod and waits until it counts. */
  static Workload start(Scenario scenario, String name) {
    return start(scenario, name, UnaryOperator.identity());
  }

  static Workload start(Scenario scenario, String name, UnaryOperator<PodBuilder> change) {
    return start(scenario, name, MIB, change);
  }

  static Workload start(Scenario scenario, String name, int mib, UnaryOperator<PodBuilder> change) {
    scenario.apply(change.apply(pod(scenario, name, mib)).build());
    Workload workload = new Workload(scenario, name, mib, List.of());
    workload.awaitSteps(3);
    return workload;
  }

  /** The one of a pod that somebody else made, once it counts. */
  static Workload of(Scenario scenario, String pod) {
    Workload workload = new Workload(scenario, pod, MIB, List.of());
    // On a node that has just booted, a kubelet may have to start it twice.
    workload.someSteps();
    workload.awaitSteps(3);
    return workload;
  }

  /** The same workload, brought back under that name; what it printed until now comes before. */
  Workload broughtBackAs(String restored) {
    return broughtBackAs(restored, someSteps());
  }

  /** The same, when its log is gone with its pod: with what somebody kept of it. */
  Workload broughtBackAs(String restored, List<String> kept) {
    List<String> here = kept.stream().filter(Workload::isStep).toList();
    return new Workload(scenario, restored, mib, all(here));
  }

  private static boolean isStep(String line) {
    return STEP.matcher(line).matches();
  }

  String name() {
    return name;
  }

  Pod now() {
    return scenario.pod(name);
  }

  /** What this pod printed, the first line first. */
  List<String> steps() {
    Shell.Result result = log();
    return result.ok() ? result.output().lines().filter(Workload::isStep).toList() : List.of();
  }

  private Shell.Result log() {
    try {
      return new Shell.Result(
          0,
          scenario
              .admin()
              .pods()
              .inNamespace(scenario.namespace())
              .withName(name)
              .inContainer(CONTAINER)
              .getLog());
    } catch (KubernetesClientException e) {
      return new Shell.Result(1, String.valueOf(e.getMessage()));
    }
  }

  /** The same of a pod that has printed: a busy node may refuse to tell what. */
  List<String> someSteps() {
    List<String> found = new ArrayList<>();
    scenario.until(
        "steps of pod " + name,
        () -> {
          found.addAll(steps());
          return !found.isEmpty();
        });
    return List.copyOf(found);
  }

  /** What it printed here, and before up to the moment of its checkpoint. */
  private List<String> allSteps() {
    return all(someSteps());
  }

  private List<String> all(List<String> here) {
    List<String> all = new ArrayList<>();
    long first = number(here.get(0));
    before.stream().filter(step -> number(step) < first).forEach(all::add);
    all.addAll(here);
    return all;
  }

  private static long number(String step) {
    return Long.parseLong(step.split(" ")[1]);
  }

  /**
   * Waits until it has printed that many further steps. Fails at once when its container has ended
   * meanwhile: that one prints no more.
   */
  void awaitSteps(int more) {
    int printed = steps().size();
    int restarts = restartsSoFar();
    scenario.until(
        "%d further steps of pod %s after %d".formatted(more, name, printed),
        () -> {
          if (steps().size() >= printed + more) {
            return true;
          }
          if (hasEnded(restarts)) {
            throw new AssertionError(
                "expected further steps, got an ended container: " + autopsy());
          }
          return false;
        },
        this::autopsy);
  }

  private boolean hasEnded(int restarts) {
    Pod pod = scenario.findPod(name);
    return pod != null
        && (restartsSoFar() > restarts
            || "Never".equals(pod.getSpec().getRestartPolicy())
                && pod.getStatus().getContainerStatuses().stream()
                    .filter(status -> status.getName().equals(CONTAINER))
                    .anyMatch(status -> status.getState().getTerminated() != null));
  }

  /** 0 while the kubelet has not reported the container yet. */
  private int restartsSoFar() {
    Pod pod = scenario.findPod(name);
    return pod == null
        ? 0
        : pod.getStatus().getContainerStatuses().stream()
            .filter(status -> status.getName().equals(CONTAINER))
            .mapToInt(ContainerStatus::getRestartCount)
            .findFirst()
            .orElse(0);
  }

  /**
   * Has the workload's own program check every line since the very beginning, inside the pod: so
   * exec works there too.
   */
  void verifyGoesOn() {
    awaitSteps(3);
    verify(1, allSteps());
  }

  /** The same for what it printed here, where what came before is lost with its node. */
  void verifyGoesOnHere() {
    awaitSteps(3);
    List<String> here = someSteps();
    verify(number(here.get(0)), here);
  }

  private void verify(long from, List<String> steps) {
    Shell.Result result =
        scenario.feedExec(
            String.join("\n", steps) + "\n",
            name,
            "/bin/gpu-counter",
            "--verify",
            "/dev/stdin",
            "--from",
            Long.toString(from),
            "--mib",
            Integer.toString(mib));
    if (!result.ok()) {
      throw new AssertionError("pod " + name + ": wrong numbers: " + result.output());
    }
  }

  /** What can be seen of all workloads of the namespace, for the error of a failed request. */
  static String autopsies(Scenario scenario) {
    return scenario.all(Pod.class).stream()
        .map(pod -> new Workload(scenario, pod.getMetadata().getName(), MIB, List.of()).autopsy())
        .collect(Collectors.joining("; "));
  }

  private String autopsy() {
    try {
      return "pod %s: %s".formatted(name, Autopsy.of(status(), log(), scenario.kernelWords()));
    } catch (RuntimeException | AssertionError e) {
      return "pod %s: %s".formatted(name, e.getMessage());
    }
  }

  /** How often the kubelet has started its container again. */
  int restarts() {
    return status().getRestartCount();
  }

  ContainerStatus status() {
    return now().getStatus().getContainerStatuses().stream()
        .filter(status -> status.getName().equals(CONTAINER))
        .findFirst()
        .orElseThrow(() -> new AssertionError("pod " + name + " has no status of its container"));
  }

  /** Kills the restored workload as an out-of-memory killer would. */
  void kill() {
    end("-9");
  }

  /** Has the restored workload end well. */
  void finish() {
    end("-TERM");
  }

  private void end(String signal) {
    String container = status().getContainerID();
    long[] next = {System.nanoTime()};
    scenario.until(
        "the container of pod %s ends by %s".formatted(name, signal),
        () -> {
          ContainerStatus now = status();
          if (!container.equals(now.getContainerID()) || now.getState().getRunning() == null) {
            return true;
          }
          // With the workload its container ends, and this command with it, perhaps before it says
          // so; but a busy node may also refuse the command, so what it says is not believed. Once
          // more does no harm: a container that was started anew is deaf to its own commands.
          if (System.nanoTime() - next[0] >= 0) {
            next[0] = System.nanoTime() + ENDED_WITHIN.toNanos();
            scenario.tryKubectlFor(
                COMMAND, "exec", name, "-c", CONTAINER, "--", "killall", signal, "gpu-counter");
          }
          return false;
        });
  }

  /** Deletes the pod and waits until it is gone. */
  void delete() {
    scenario.kubectl("delete", "pod", name, "--wait=true", Scenario.TIMEOUT);
  }
}
