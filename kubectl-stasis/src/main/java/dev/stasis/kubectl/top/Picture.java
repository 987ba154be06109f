package dev.stasis.kubectl.top;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.report.Course;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * The activity at one moment.
 *
 * @param nodes every GpuNode; empty if they cannot be read
 * @param requests checkpoints, restores and migrations
 * @param now the time
 */
public record Picture(List<Resource> nodes, List<Resource> requests, Instant now) {

  private static final Comparator<Resource> BY_AGE =
      Comparator.comparing(one -> one.text("metadata.creationTimestamp"));

  /** Sorted: nodes by name, requests by age. */
  public Picture {
    nodes = nodes.stream().sorted(Comparator.comparing(Resource::name)).toList();
    requests = requests.stream().sorted(BY_AGE).toList();
  }

  /** Running requests. */
  public List<Resource> atWork() {
    return requests.stream().filter(one -> isOpen(one) && !isWaiting(one)).toList();
  }

  /** Waiting requests. */
  public List<Resource> queue() {
    return requests.stream().filter(one -> isOpen(one) && isWaiting(one)).toList();
  }

  /** Suspended pods. */
  public List<Resource> suspended() {
    return requests.stream().filter(one -> new Course(one).phase().equals("Suspended")).toList();
  }

  /** Failed requests, the newest first. */
  public List<Resource> failures(int most) {
    return requests.stream()
        .filter(one -> new Course(one).isBad())
        .sorted(BY_AGE.reversed())
        .limit(most)
        .toList();
  }

  /** Items that a key can select, in the order of the screen. */
  public List<Resource> choices(int mostFailures) {
    return List.of(atWork(), queue(), suspended(), failures(mostFailures)).stream()
        .flatMap(List::stream)
        .toList();
  }

  private static boolean isOpen(Resource one) {
    return !new Course(one).isOver();
  }

  private static boolean isWaiting(Resource one) {
    return new Course(one).phase().equals("Pending");
  }
}
