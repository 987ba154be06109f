package dev.stasis.operator.liveness;

import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ProbePolicy;
import dev.stasis.operator.target.Holder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Probe;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Compares the probes and deadlines of a pod with the expected freeze time. The result determines
 * the operation's own deadline: the freeze is undone before a probe would kill the workload.
 */
public final class Liveness {

  private final Clock clock;

  public Liveness(Clock clock) {
    this.clock = clock;
  }

  /**
   * The input.
   *
   * @param pod the running pod, with its status
   * @param container the container to freeze
   * @param expected the expected freeze time
   * @param suspends whether the workload stays frozen until it is resumed by a request
   * @param policy the policy for probes
   * @param jobDeadline when the Job of the pod ends it; empty if there is no deadline
   */
  public record Question(
      Pod pod,
      String container,
      Duration expected,
      boolean suspends,
      ProbePolicy policy,
      Optional<Instant> jobDeadline) {}

  public LivenessVerdict judge(Question question) {
    List<Budget> budgets = new ArrayList<>();
    List<Fault> faults = new ArrayList<>();
    for (Watch watch : watches(question)) {
      Budget budget = Budget.of(watch.property(), watch.probe());
      boolean answered =
          question.policy() == ProbePolicy.EMULATE && unanswerable(watch.probe()).isEmpty();
      if (!answered && question.suspends()) {
        faults.add(neverLongEnough(question, watch, budget));
      } else if (!answered) {
        budgets.add(budget);
      }
    }
    budgets.addAll(deadlines(question));
    budgets.stream()
        .filter(budget -> budget.usable().compareTo(question.expected()) < 0)
        .forEach(budget -> faults.add(tooShort(question, budget)));
    if (!faults.isEmpty()) {
      return new LivenessVerdict.TooShort(faults);
    }
    return new LivenessVerdict.Fits(
        budgets.stream().map(Budget::usable).min(Comparator.naturalOrder()));
  }

  /**
   * A probe that kills the container when it fails.
   *
   * @param property its field in the pod
   */
  private record Watch(String property, Probe probe) {}

  private static List<Watch> watches(Question question) {
    List<Watch> watches = new ArrayList<>();
    for (Container container : question.pod().getSpec().getContainers()) {
      if (container.getName().equals(question.container())) {
        String where = "spec.containers[" + container.getName() + "].";
        if (container.getLivenessProbe() != null) {
          watches.add(new Watch(where + "livenessProbe", container.getLivenessProbe()));
        }
        // The holder answers its own probe: a pod may be frozen again right after a restore.
        if (container.getStartupProbe() != null
            && !Holder.isOurs(container.getStartupProbe())
            && !hasStarted(question)) {
          watches.add(new Watch(where + "startupProbe", container.getStartupProbe()));
        }
      }
    }
    return watches;
  }

  private static boolean hasStarted(Question question) {
    return question.pod().getStatus() != null
        && question.pod().getStatus().getContainerStatuses().stream()
            .filter(status -> status.getName().equals(question.container()))
            .map(ContainerStatus::getStarted)
            .anyMatch(Boolean.TRUE::equals);
  }

  private List<Budget> deadlines(Question question) {
    List<Budget> deadlines = new ArrayList<>();
    Instant now = clock.instant();
    Pod pod = question.pod();
    Long seconds = pod.getSpec().getActiveDeadlineSeconds();
    if (seconds != null && pod.getStatus() != null && pod.getStatus().getStartTime() != null) {
      Instant end = Instant.parse(pod.getStatus().getStartTime()).plusSeconds(seconds);
      deadlines.add(Budget.ofDeadline("spec.activeDeadlineSeconds", Duration.between(now, end)));
    }
    question
        .jobDeadline()
        .ifPresent(
            end ->
                deadlines.add(
                    Budget.ofDeadline("job.activeDeadlineSeconds", Duration.between(now, end))));
    return deadlines;
  }

  /**
   * Returns the kind of a probe that only the workload itself can answer; empty if an agent can
   * answer it.
   */
  private static Optional<String> unanswerable(Probe probe) {
    if (probe.getExec() != null) {
      return Optional.of("exec");
    }
    boolean https = probe.getHttpGet() != null && "HTTPS".equals(probe.getHttpGet().getScheme());
    return https ? Optional.of("HTTPS") : Optional.empty();
  }

  private static Fault tooShort(Question question, Budget budget) {
    String wanted = "a freeze of " + text(question.expected()) + " within 80% of it at any moment";
    return budget
        .reason()
        .misfit(budget.property(), wanted, text(budget.total()) + " (" + budget.sum() + ")");
  }

  private static Fault neverLongEnough(Question question, Watch watch, Budget budget) {
    Optional<String> kind = unanswerable(watch.probe());
    String wanted =
        kind.map(it -> "no " + it + " probe on a suspended workload")
            .orElse("probePolicy Emulate, or no such probe on a suspended workload");
    String found =
        kind.orElse("policy " + question.policy().value())
            + ", "
            + text(budget.total())
            + " ("
            + budget.sum()
            + ")";
    return budget.reason().misfit(budget.property(), wanted, found);
  }

  private static String text(Duration duration) {
    return new HumanDuration(duration).text();
  }
}
