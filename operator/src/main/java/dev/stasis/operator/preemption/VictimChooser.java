package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.policy.VictimOrder;
import dev.stasis.operator.pod.PodState;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the cheapest victims: on one node, as few as possible, with the lowest priority, and only
 * if the preemptor then fits in all resources. Equal inputs give equal decisions.
 */
final class VictimChooser {

  private final NodeFilter filter = new NodeFilter();
  private final VictimRules rules;
  private final Instant now;
  private final Comparator<VictimCandidate> cheapestFirst;

  /** Candidates of a node for a priority, as computed by earlier decisions. */
  private final Map<String, NodeVictims> known = new HashMap<>();

  VictimChooser(VictimRules rules, Instant now) {
    this.rules = rules;
    this.now = now;
    this.cheapestFirst = cheapestFirst(rules.order(), now);
  }

  /**
   * Decides about a preemptor, or about a gang, for which either all its pods are placed or none.
   */
  PreemptionDecision choose(List<Pod> preemptors, List<NodeSnapshot> nodes) {
    SortedMap<String, NodeSnapshot> left = new TreeMap<>();
    nodes.forEach(node -> left.put(node.name(), node));
    List<NodeAssignment> assignments = new ArrayList<>();
    int victims = 0;
    for (Pod preemptor : preemptors) {
      int most = Math.min(rules.maxVictims(), rules.budgetLeft()) - victims;
      Refusals refusals = new Refusals();
      Option best = null;
      for (NodeSnapshot node : left.values()) {
        Option option = option(preemptor, node, most, refusals);
        if (option != null && (best == null || isCheaper(option, best))) {
          best = option;
        }
      }
      if (best == null) {
        return new PreemptionDecision.Unplaceable(refusals.first, left.size());
      }
      victims += best.victims.size();
      assignments.add(assignment(best));
      left.put(best.node.name(), after(best, preemptor));
    }
    return new PreemptionDecision.Preempt(assignments);
  }

  private @Nullable Option option(Pod preemptor, NodeSnapshot node, int most, Refusals refusals) {
    Optional<String> refusal =
        NodeFilter.unsupported(preemptor).or(() -> filter.refusal(preemptor, node.node()));
    if (refusal.isPresent()) {
      refusals.add(node, refusal::get);
      return null;
    }
    NodeVictims possible = victims(node, new PodState(preemptor).priority());
    List<VictimCandidate> victims = new ArrayList<>(possible.candidates());
    ResourceAmounts requests = ResourceAmounts.of(preemptor);
    Set<String> ports = NodeFilter.hostPorts(preemptor);
    ResourceAmounts free = node.free().plus(possible.requests());
    if (!requests.fits(free)) {
      ResourceAmounts all = free;
      refusals.add(
          node,
          () -> sentence(String.join(", ", requests.missingFrom(all).values()), possible.spared()));
      return null;
    }
    Optional<String> port = portInUse(node, victims, ports);
    if (port.isPresent()) {
      refusals.add(node, () -> sentence(port.get(), possible.spared()));
      return null;
    }
    // The most expensive first: a candidate that need not be preempted is removed.
    for (int i = victims.size() - 1; i >= 0; i--) {
      VictimCandidate one = victims.remove(i);
      ResourceAmounts without = free.minus(one.requests());
      if (requests.fits(without) && portInUse(node, victims, ports).isEmpty()) {
        free = without;
      } else {
        victims.add(i, one);
      }
    }
    if (victims.size() > most) {
      refusals.add(
          node,
          () ->
              "requires %d victims, more than the limit of %d"
                  .formatted(victims.size(), Math.max(0, most)));
      return null;
    }
    return new Option(node, victims);
  }

  /** Why nodes are refused: the first ones in the order of their names. */
  private static final class Refusals {

    private final SortedMap<String, String> first = new TreeMap<>();

    void add(NodeSnapshot node, Supplier<String> why) {
      if (first.size() < PreemptionDecision.NODES) {
        first.put(node.name(), why.get());
      }
    }
  }

  /**
   * The possible victims of a node for preemptors of one priority.
   *
   * @param of all pods of the node
   * @param candidates the cheapest first
   * @param requests of all candidates
   * @param spared number of the other pods that are spared, by reason
   */
  private record NodeVictims(
      List<VictimCandidate> of,
      List<VictimCandidate> candidates,
      ResourceAmounts requests,
      Map<String, Integer> spared) {}

  private NodeVictims victims(NodeSnapshot node, int priority) {
    String key = priority + " " + node.name();
    NodeVictims before = known.get(key);
    // A node on which a pod of the same gang was placed has additional pods.
    if (before != null && before.of() == node.pods()) {
      return before;
    }
    SortedMap<String, Integer> spared = new TreeMap<>();
    List<VictimCandidate> candidates = new ArrayList<>();
    ResourceAmounts requests = ResourceAmounts.none();
    for (VictimCandidate pod : node.pods()) {
      Optional<String> why = spared(pod, priority);
      if (why.isEmpty()) {
        candidates.add(pod);
        requests = requests.plus(pod.requests());
      } else {
        spared.merge(why.get(), 1, Integer::sum);
      }
    }
    candidates.sort(cheapestFirst);
    NodeVictims found = new NodeVictims(node.pods(), candidates, requests, spared);
    known.put(key, found);
    return found;
  }

  private Optional<String> spared(VictimCandidate pod, int priorityOfPreemptor) {
    if (pod.spared().isPresent()) {
      return pod.spared();
    }
    if (pod.priority() > rules.maxPriority() || pod.priority() >= priorityOfPreemptor) {
      return Optional.of("with too high a priority");
    }
    if (pod.gang().isPresent() && !rules.gangsAllowed()) {
      return Optional.of("part of a gang");
    }
    if (Duration.between(pod.started(), now).compareTo(rules.minRunTime()) < 0) {
      return Optional.of("within its minimum run time");
    }
    return pod.timesThisHour() >= rules.budgetPerPod()
        ? Optional.of("preempted too often in the last hour")
        : Optional.empty();
  }

  private static Optional<String> portInUse(
      NodeSnapshot node, List<VictimCandidate> victims, Set<String> ports) {
    if (ports.isEmpty()) {
      return Optional.empty();
    }
    Set<String> names = victims.stream().map(VictimCandidate::name).collect(Collectors.toSet());
    return node.pods().stream()
        .filter(pod -> !names.contains(pod.name()))
        .flatMap(
            pod ->
                NodeFilter.hostPorts(pod.pod()).stream()
                    .filter(ports::contains)
                    .map(port -> "host port %s is used by %s".formatted(port, pod.name())))
        .findFirst();
  }

  private static String sentence(String missing, Map<String, Integer> spared) {
    return spared.isEmpty()
        ? missing
        : spared.entrySet().stream()
            .map(it -> it.getValue() + " " + it.getKey())
            .collect(Collectors.joining(", ", missing + " (spared: ", ")"));
  }

  /** The name is compared last, so that equal inputs give equal decisions. */
  private static Comparator<VictimCandidate> cheapestFirst(List<VictimOrder> order, Instant now) {
    Comparator<VictimCandidate> comparator = Comparator.comparing(VictimCandidate::name);
    for (int i = order.size() - 1; i >= 0; i--) {
      Comparator<VictimCandidate> first =
          switch (order.get(i)) {
            case LOWEST_PRIORITY -> Comparator.comparingInt(VictimCandidate::priority);
            case LEAST_WORK_LOST -> Comparator.comparing(pod -> Duration.between(pod.since(), now));
            case SHORTEST_FREEZE -> Comparator.comparing(VictimCandidate::expectedFreeze);
            case UNRECOGNIZED -> throw new IllegalArgumentException("order: " + order);
          };
      comparator = first.thenComparing(comparator);
    }
    return comparator;
  }

  /** One node with its victims. */
  private record Option(NodeSnapshot node, List<VictimCandidate> victims) {}

  /**
   * No victim is cheaper than any. Otherwise the most expensive victim of each decides, as in the
   * scheduler, then their number.
   */
  private boolean isCheaper(Option one, Option other) {
    if (one.victims.isEmpty() || other.victims.isEmpty()) {
      return one.victims.isEmpty() && !other.victims.isEmpty();
    }
    VictimCandidate mine = Collections.max(one.victims, cheapestFirst);
    VictimCandidate theirs = Collections.max(other.victims, cheapestFirst);
    int byPriority = Integer.compare(mine.priority(), theirs.priority());
    if (byPriority != 0 && rules.order().get(0) == VictimOrder.LOWEST_PRIORITY) {
      return byPriority < 0;
    }
    int byCount = Integer.compare(one.victims.size(), other.victims.size());
    return byCount != 0 ? byCount < 0 : cheapestFirst.compare(mine, theirs) < 0;
  }

  private NodeAssignment assignment(Option chosen) {
    NodeSnapshot node = chosen.node();
    List<VictimCandidate> victims = chosen.victims();
    long lost =
        victims.stream()
            .map(victim -> Duration.between(victim.since(), now))
            .reduce(Duration.ZERO, Duration::plus)
            .toSeconds();
    Duration freeze =
        victims.stream()
            .map(VictimCandidate::expectedFreeze)
            .max(Comparator.naturalOrder())
            .orElse(Duration.ZERO);
    String why =
        victims.isEmpty()
            ? "it already fits on %s".formatted(node.name())
            : ("%d of %d pods on %s are preempted, the highest priority %d, %d s since their"
                    + " last checkpoint, expected freeze %d s")
                .formatted(
                    victims.size(),
                    node.pods().size(),
                    node.name(),
                    victims.stream().mapToInt(VictimCandidate::priority).max().orElseThrow(),
                    lost,
                    freeze.toSeconds());
    return new NodeAssignment(node.name(), List.copyOf(victims), why);
  }

  /** Returns the node with the preemptor and without the victims. */
  private NodeSnapshot after(Option chosen, Pod preemptor) {
    NodeSnapshot node = chosen.node();
    List<VictimCandidate> pods = new ArrayList<>(node.pods());
    pods.removeAll(chosen.victims());
    pods.add(VictimCandidate.spared(preemptor, now, "just placed"));
    return new NodeSnapshot(node.node(), pods).reserving(node.reserved());
  }
}
