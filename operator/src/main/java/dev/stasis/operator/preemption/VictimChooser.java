package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.policy.VictimOrder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the cheapest victims: on one node, as few and as unimportant as can be, and only when the
 * preemptor then fits in everything. The same input gives the same decision.
 */
public final class VictimChooser {

  private final NodeFit fit = new NodeFit();

  /**
   * Decides about a preemptor, or about a gang, which gets room for all or for none.
   *
   * @param preemptors pods that the scheduler could not place
   * @param places all nodes
   */
  public Decision choose(List<Pod> preemptors, List<Place> places, Rules rules, Instant now) {
    Map<String, Place> left = new LinkedHashMap<>();
    places.stream()
        .sorted(Comparator.comparing(Place::name))
        .forEach(place -> left.put(place.name(), place));
    List<Decision.Room> rooms = new ArrayList<>();
    int taken = 0;
    for (Pod preemptor : preemptors) {
      int most = Math.min(rules.maxVictims(), rules.budgetLeft()) - taken;
      SortedMap<String, String> missing = new TreeMap<>();
      Option best = null;
      for (Place place : left.values()) {
        Option option = option(preemptor, place, rules, most, now, missing);
        if (option != null && (best == null || option.isCheaperThan(best))) {
          best = option;
        }
      }
      if (best == null) {
        return new Decision.Nothing(missing);
      }
      taken += best.victims.size();
      rooms.add(best.room(now));
      left.put(best.place.name(), best.after(preemptor, now));
    }
    return new Decision.Take(rooms);
  }

  private @Nullable Option option(
      Pod preemptor,
      Place place,
      Rules rules,
      int most,
      Instant now,
      SortedMap<String, String> missing) {
    Optional<String> never =
        NodeFit.notCovered(preemptor).or(() -> fit.against(preemptor, place.node()));
    if (never.isPresent()) {
      missing.put(place.name(), never.get());
      return null;
    }
    int priority = priority(preemptor);
    Map<String, Integer> spared = new HashMap<>();
    List<Candidate> candidates = new ArrayList<>();
    for (Candidate pod : place.pods()) {
      Optional<String> why = spared(pod, rules, priority, now);
      if (why.isEmpty()) {
        candidates.add(pod);
      } else {
        spared.merge(why.get(), 1, Integer::sum);
      }
    }
    candidates.sort(cheapestFirst(rules.order(), now));
    Amounts wanted = Amounts.of(preemptor);
    Set<String> ports = NodeFit.hostPorts(preemptor);
    List<Candidate> victims = new ArrayList<>(candidates);
    Optional<String> still = stillMissing(place, victims, wanted, ports);
    if (still.isPresent()) {
      missing.put(place.name(), sentence(still.get(), spared));
      return null;
    }
    // The dearest first: whoever can stay, stays.
    for (int i = victims.size() - 1; i >= 0; i--) {
      Candidate one = victims.remove(i);
      if (stillMissing(place, victims, wanted, ports).isPresent()) {
        victims.add(i, one);
      }
    }
    if (victims.size() > most) {
      missing.put(
          place.name(),
          "it needs %d victims, and %d may be taken".formatted(victims.size(), Math.max(0, most)));
      return null;
    }
    return new Option(place, victims, rules.order(), now);
  }

  private static Optional<String> spared(
      Candidate pod, Rules rules, int priorityOfPreemptor, Instant now) {
    if (pod.spared().isPresent()) {
      return pod.spared();
    }
    if (pod.priority() > rules.maxPriority() || pod.priority() >= priorityOfPreemptor) {
      return Optional.of("of too high a priority");
    }
    if (pod.gang().isPresent() && !rules.gangsAllowed()) {
      return Optional.of("part of a gang");
    }
    if (Duration.between(pod.started(), now).compareTo(rules.minRunTime()) < 0) {
      return Optional.of("within its minimum run time");
    }
    return pod.timesThisHour() >= rules.budgetPerPod()
        ? Optional.of("a victim often enough this hour")
        : Optional.empty();
  }

  private static Optional<String> stillMissing(
      Place place, List<Candidate> victims, Amounts wanted, Set<String> ports) {
    Amounts free = place.free();
    for (Candidate victim : victims) {
      free = free.plus(Amounts.of(victim.pod()));
    }
    SortedMap<String, String> missing = wanted.missingFrom(free);
    if (!missing.isEmpty()) {
      return Optional.of(String.join(", ", missing.values()));
    }
    for (Candidate pod : place.pods()) {
      if (!victims.contains(pod)) {
        for (String port : NodeFit.hostPorts(pod.pod())) {
          if (ports.contains(port)) {
            return Optional.of("host port %s is %s's".formatted(port, pod.name()));
          }
        }
      }
    }
    return Optional.empty();
  }

  private static String sentence(String missing, Map<String, Integer> spared) {
    if (spared.isEmpty()) {
      return missing;
    }
    List<String> words = new ArrayList<>();
    new TreeMap<>(spared).forEach((why, count) -> words.add(count + " " + why));
    return missing + " (left alone: " + String.join(", ", words) + ")";
  }

  private static int priority(Pod pod) {
    Integer priority = pod.getSpec().getPriority();
    return priority == null ? 0 : priority;
  }

  /** Cheapest first; names at the end, so that the same input gives the same decision. */
  private static Comparator<Candidate> cheapestFirst(List<VictimOrder> order, Instant now) {
    Comparator<Candidate> comparator = Comparator.comparing(Candidate::name);
    for (int i = order.size() - 1; i >= 0; i--) {
      Comparator<Candidate> first =
          switch (order.get(i)) {
            case LOWEST_PRIORITY -> Comparator.comparingInt(Candidate::priority);
            case LEAST_WORK_LOST -> Comparator.comparing(pod -> Duration.between(pod.since(), now));
            case SHORTEST_FREEZE -> Comparator.comparing(Candidate::expectedFreeze);
          };
      comparator = first.thenComparing(comparator);
    }
    return comparator;
  }

  /** One node, and who would yield there. */
  private record Option(
      Place place, List<Candidate> victims, List<VictimOrder> order, Instant now) {

    /**
     * Nobody is better than somebody; then the dearest victim of each decides, as the scheduler
     * itself does it, then how many they are.
     */
    boolean isCheaperThan(Option other) {
      if (victims.isEmpty() || other.victims.isEmpty()) {
        return victims.isEmpty() && !other.victims.isEmpty();
      }
      Comparator<Candidate> comparator = cheapestFirst(order, now);
      Candidate mine = victims.stream().max(comparator).orElseThrow();
      Candidate theirs = other.victims.stream().max(comparator).orElseThrow();
      int byPriority = Integer.compare(mine.priority(), theirs.priority());
      if (byPriority != 0 && order.get(0) == VictimOrder.LOWEST_PRIORITY) {
        return byPriority < 0;
      }
      int byCount = Integer.compare(victims.size(), other.victims.size());
      return byCount != 0 ? byCount < 0 : comparator.compare(mine, theirs) < 0;
    }

    Decision.Room room(Instant at) {
      Duration lost =
          victims.stream()
              .map(victim -> Duration.between(victim.since(), at))
              .reduce(Duration.ZERO, Duration::plus);
      Duration freeze =
          victims.stream()
              .map(Candidate::expectedFreeze)
              .reduce(Duration.ZERO, (a, b) -> a.compareTo(b) > 0 ? a : b);
      String why =
          victims.isEmpty()
              ? "it fits on %s already".formatted(place.name())
              : "%d of %d pods on %s yield, the highest priority %d, %d s since their last checkpoint, expected freeze %d s"
                  .formatted(
                      victims.size(),
                      place.pods().size(),
                      place.name(),
                      victims.stream().mapToInt(Candidate::priority).max().orElseThrow(),
                      lost.toSeconds(),
                      freeze.toSeconds());
      return new Decision.Room(place.name(), victims, why);
    }

    /** The node with the preemptor there and the victims gone. */
    Place after(Pod preemptor, Instant at) {
      List<Candidate> pods = new ArrayList<>(place.pods());
      pods.removeAll(victims);
      pods.add(
          new Candidate(
              preemptor, at, at, Duration.ZERO, Optional.of("just placed"), Optional.empty(), 0));
      return new Place(place.node(), pods, place.promised());
    }
  }
}
