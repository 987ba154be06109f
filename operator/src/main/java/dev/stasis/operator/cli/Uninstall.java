package dev.stasis.operator.cli;

import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.operator.uninstall.Blocker;
import dev.stasis.operator.uninstall.Step;
import dev.stasis.operator.uninstall.UninstallPreflight;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Runs before an uninstall: resumes suspended workloads and waits for them, or refuses. Exit code
 * 0: Stasis can be removed.
 */
public final class Uninstall {

  /** Stasis must not be removed: the log has the reason. */
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
   * Arguments: the namespace of the operations, {@code --force} to cancel requests in progress and
   * to give up uploads, evicted workloads and workloads of removed nodes, and {@code
   * --timeout=SECONDS}.
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
    UninstallPreflight leaving = new UninstallPreflight(cluster.read());
    List<Blocker> blockers = leaving.blockers();
    if (!blockers.isEmpty() && !force) {
      refuse("nothing was changed", blockers);
      return REFUSED;
    }
    blockers.forEach(this::giveUp);
    if (force) {
      leaving.cancels().forEach(this::take);
    }
    leaving.resumes().forEach(this::take);
    Optional<UninstallPreflight> last = await(force, atMost);
    if (last.isEmpty()) {
      return REFUSED;
    }
    List<Blocker> later =
        last.get().blockers().stream().filter(one -> !blockers.contains(one)).toList();
    if (!later.isEmpty() && !force) {
      refuse("this has changed since the start", later);
      return REFUSED;
    }
    later.forEach(this::giveUp);
    out.println("uninstall: Stasis can be removed");
    return 0;
  }

  private void giveUp(Blocker one) {
    out.println("uninstall: forced, although " + one.what());
    out.println("      " + one.givenUp());
  }

  private void refuse(String state, List<Blocker> blockers) {
    out.println("uninstall: refused; " + state + ":");
    for (Blocker one : blockers) {
      out.println("  - " + one.what());
      out.println("      " + one.remedy());
      out.println("      with uninstall.force: " + one.givenUp());
    }
    out.println("To uninstall anyway:");
    out.println(
        "      helm upgrade RELEASE CHART --reset-then-reuse-values --set uninstall.force=true");
  }

  private void take(Step step) {
    out.println("uninstall: " + step);
    if (!cluster.take(step)) {
      out.println("uninstall: " + step.name() + " was deleted in the meantime");
    }
  }

  /** Returns the resources once nothing is pending; empty after a time. */
  private Optional<UninstallPreflight> await(boolean force, Duration atMost)
      throws InterruptedException {
    Instant end = clock.instant().plus(atMost);
    UninstallPreflight leaving = new UninstallPreflight(cluster.read());
    List<String> pending = leaving.pending(force);
    while (!pending.isEmpty()) {
      Duration left = Duration.between(clock.instant(), end);
      if (left.isNegative() || left.isZero()) {
        out.println(
            "uninstall: refused; after " + atMost.toSeconds() + " s these are not finished:");
        pending.forEach(one -> out.println("  - " + one));
        out.println("See: kubectl stasis doctor; then uninstall again.");
        return Optional.empty();
      }
      cluster.awaitChange(left);
      leaving = new UninstallPreflight(cluster.read());
      pending = leaving.pending(force);
    }
    return Optional.of(leaving);
  }
}
