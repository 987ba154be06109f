package dev.stasis.operator.holder;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.target.TargetPlan;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Creates the pods of requests: under a free name, with a dry run first. */
@Singleton
public class TargetPods {

  /** A name can be taken between the observation and the creation; five times in a row is a bug. */
  private static final int NAMES = 5;

  private final Cluster cluster;
  private final Targets targets;

  public TargetPods(Cluster cluster, Targets targets) {
    this.cluster = cluster;
    this.targets = targets;
  }

  /** The result of a creation. */
  public sealed interface Result {}

  /**
   * The pod exists.
   *
   * @param otherContainers containers that are restarted in it
   * @param notes differences from the source
   */
  public record Created(Pod pod, List<String> otherContainers, List<String> notes)
      implements Result {
    public Created {
      otherContainers = List.copyOf(otherContainers);
      notes = List.copyOf(notes);
    }

    public Created(Pod pod) {
      this(pod, List.of(), List.of());
    }
  }

  /** The pod cannot be created now. */
  public record Postponed(Reason reason, String message) implements Result {}

  /** The pod can never be created. */
  public record Impossible(List<Fault> faults) implements Result {
    public Impossible {
      faults = List.copyOf(faults);
    }
  }

  /**
   * Returns the pod that was created for the request and is not being deleted, read from the API
   * server.
   */
  public Optional<Pod> existing(HasMetadata request, Predicate<Pod> kind) {
    return targets
        .madeFor(request.getMetadata().getNamespace(), request.getMetadata().getUid())
        .stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(kind)
        .findFirst();
  }

  /**
   * Creates a pod.
   *
   * @param plan returns the pod, given the names that are taken
   * @param mayChange whether the reason for a refusal may change later
   */
  public Result create(
      String namespace, Function<Set<String>, TargetPlan> plan, Predicate<Fault> mayChange) {
    Set<String> taken = namesIn(namespace);
    for (int round = 0; round < NAMES; round++) {
      TargetPlan planned = plan.apply(taken);
      if (planned instanceof TargetPlan.Refused refused) {
        return refused.faults().stream().allMatch(mayChange)
            ? new Postponed(
                Reason.find(refused.faults().get(0).reason()).orElseThrow(), refused.sentence())
            : new Impossible(refused.faults());
      }
      TargetPlan.Made made = (TargetPlan.Made) planned;
      Targets.Answer answer = targets.create(made.pod(), true);
      if (answer instanceof Targets.Accepted) {
        answer = targets.create(made.pod(), false);
      }
      if (answer instanceof Targets.Accepted accepted) {
        List<String> notes = new ArrayList<>(made.dropped());
        notes.addAll(added(made.pod(), accepted.pod()));
        return new Created(accepted.pod(), made.otherContainers(), notes);
      }
      if (answer instanceof Targets.Refused refused) {
        return new Postponed(Reason.REFUSED_BY_CLUSTER, refused.sentence());
      }
      taken.add(made.pod().getMetadata().getName());
    }
    return new Postponed(
        Reason.TARGET_TAKEN, "pod: expected an unused name, got " + NAMES + " in use");
  }

  /** Returns the request for which a pod was created, from its annotation. */
  public static Optional<ResourceID> requester(Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    return Marks.annotation(pod, Api.RESTORED_FROM_ANNOTATION)
        .filter(from -> from.startsWith(namespace + "/"))
        .map(from -> new ResourceID(from.substring(namespace.length() + 1), namespace));
  }

  /** Deletes a pod, but no other one with its name. */
  public void remove(Pod pod) {
    targets.remove(pod);
  }

  private Set<String> namesIn(String namespace) {
    return cluster.pods(namespace).stream()
        .map(pod -> pod.getMetadata().getName())
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** Additions by admission plugins. */
  private static List<String> added(Pod asked, Pod got) {
    List<String> before = parts(asked).toList();
    return parts(got).filter(part -> !before.contains(part)).map(it -> "added: " + it).toList();
  }

  private static Stream<String> parts(Pod pod) {
    return Stream.of(
            pod.getSpec().getContainers().stream().map(it -> "container " + it.getName()),
            pod.getSpec().getInitContainers().stream().map(it -> "init container " + it.getName()),
            pod.getSpec().getSchedulingGates().stream()
                .map(it -> "scheduling gate " + it.getName()))
        .flatMap(it -> it);
  }
}
