package dev.stasis.operator.cli;

import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.operator.uninstall.Leaving;
import dev.stasis.operator.uninstall.Obstacle;
import dev.stasis.operator.uninstall.Step;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Runs before the release goes: resumes what is suspended and waits for it, or refuses. Exit code
 * 0: Stasis may go.
 */
public final class Uninstall {

  /** It may not go: the log says why. */
  static final int REFUSED = 1;

  private final ClusterView cluster;
  private final PrintStream out;
  private final Clock clock;

  Uninstall(ClusterView cluster, PrintStream out, Clock clock) {
    this.cluster = cluster;
    this.out = out;
    this.clock = clock;
  }

  /**
   * Arguments: the namespace of the operations, {@code --force} to cancel what is at work and to
   * leave evicted workloads in their stores, and {@code --timeout=SECONDS}.
   */
  public static void main(String[] arguments) {
    boolean force = List.of(arguments).contains("--force");
    Duration atMost =
        List.of(arguments).stream()
            .filter(one -> one.startsWith("--timeout="))
            .map(one -> Duration.ofSeconds(Long.parseLong(one.substring("--timeout=".length()))))
            .findFirst()
            // Helm itself waits five minutes for a hook.
            .orElse(Duration.ofSeconds(270));
    try (KubernetesClient client =
            new KubernetesClientBuilder()
                .withKubernetesSerialization(new TolerantSerialization())
                .build();
        ClusterView cluster = new ClusterView(client, arguments[0])) {
      System.exit(new Uninstall(cluster, System.out, Clock.systemUTC()).run(force, atMost));
    } catch (InterruptedException e) {
      System.exit(REFUSED);
    } catch (KubernetesClientException e) {
      System.out.println("uninstall: the cluster refused: " + e.getMessage());
      System.exit(REFUSED);
    }
  }

  int run(boolean force, Duration atMost) throws InterruptedException {
    Leaving leaving = new Leaving(cluster.read());
    List<Obstacle> obstacles = leaving.obstacles();
    if (!obstacles.isEmpty() && !force) {
      refuse(obstacles);
      return REFUSED;
    }
    obstacles.forEach(one -> out.println("uninstall: in spite of this: " + one.what()));
    if (force) {
      leaving.cancels().forEach(this::take);
    }
    leaving.resumes().forEach(this::take);
    return await(atMost);
  }

  private void refuse(List<Obstacle> obstacles) {
    out.println("uninstall: refused; nothing was touched:");
    for (Obstacle one : obstacles) {
      out.println("  - " + one.what());
      out.println("      " + one.command());
    }
    out.println("To go in spite of it (work is cancelled; what is evicted stays in its store,");
    out.println("and comes back when Stasis is installed again):");
    out.println("      helm upgrade RELEASE CHART --reuse-values --set uninstall.force=true");
  }

  private void take(Step step) {
    out.println("uninstall: " + step);
    if (!cluster.take(step)) {
      out.println("uninstall: " + step.name() + " is gone meanwhile");
    }
  }

  private int await(Duration atMost) throws InterruptedException {
    Instant end = clock.instant().plus(atMost);
    List<String> pending = new Leaving(cluster.read()).pending();
    while (!pending.isEmpty()) {
      Duration left = Duration.between(clock.instant(), end);
      if (left.isNegative() || left.isZero()) {
        out.println("uninstall: refused; after " + atMost.toSeconds() + " s this is not over:");
        pending.forEach(one -> out.println("  - " + one));
        out.println("See: kubectl stasis doctor; then uninstall again.");
        return REFUSED;
      }
      cluster.awaitChange(left);
      pending = new Leaving(cluster.read()).pending();
    }
    out.println("uninstall: nothing stands still; Stasis may go");
    return 0;
  }
}
