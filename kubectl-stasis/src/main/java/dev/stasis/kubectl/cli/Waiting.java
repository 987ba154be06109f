package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Watching;
import dev.stasis.kubectl.report.Course;
import dev.stasis.kubectl.report.ProgressLine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Follows an object until it is finished: with a progress bar on a terminal, otherwise with a line
 * for each phase.
 */
final class Waiting {

  /** The line on a terminal shows the elapsed time, so it is drawn once a second. */
  private static final Duration TICK = Duration.ofSeconds(1);

  private final Cluster cluster;
  private final Terminal terminal;
  private final Clock clock;

  Waiting(Session session, Cluster cluster) {
    this.cluster = cluster;
    this.terminal = session.terminal();
    this.clock = session.clock();
  }

  /** Returns the finished object; empty if the time is over before. */
  Optional<Resource> untilOver(Resource object, Duration atMost) throws InterruptedException {
    Instant begin = clock.instant();
    Resource last = object;
    String said = "";
    Kind kind = Kind.of(object.kind()).orElseThrow();
    try (Watching watching = cluster.watch(kind, ClusterCommand.scope(object), object.name())) {
      while (!new Course(last).isOver()) {
        Duration waited = Duration.between(begin, clock.instant());
        if (waited.compareTo(atMost) >= 0) {
          return Optional.empty();
        }
        if (terminal.isScreen()) {
          terminal.overwrite(new ProgressLine().text(last, waited));
        } else if (!said.equals(new Course(last).phase())) {
          said = new Course(last).phase();
          terminal.complain(new ProgressLine().text(last, waited));
        }
        last = watching.next(TICK).orElse(last);
      }
      return Optional.of(last);
    } finally {
      terminal.erase();
    }
  }
}
