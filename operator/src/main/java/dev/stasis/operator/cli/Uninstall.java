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

/**
 * Runs before an uninstall: resumes suspended workloads and waits for them, or refuses. Exit code
 * 0: Stasis can be removed.
 */
public final class Uninstall {

  /** Stasis must not be removed: the log has the reason. */
  static final int REFUSED = 1;

  private final UninstallCluster cluster;
  private final PrintStream out;
  private final Clock clock;

  /** Whether Stasis is removed now, and the operator is not started again. */
  private volatile boolean removable;

  Uninstall(UninstallCluster cluster, PrintStream out, Clock clock) {
    this.cluster = cluster;
    this.out = out;
    this.clock = clock;
  }

  /**
   * Arguments: the namespace and the name of the operator's Deployment, {@code --force} to cancel
   * requests in progress and to give up uploads, evicted workloads and workloads of removed nodes,
   * and {@code --timeout=SECONDS}.
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
        ClusterView cluster = new ClusterView(client, arguments[0], arguments[1])) {
      Uninstall uninstall = new Uninstall(cluster, System.out, Clock.systemUTC());
      // After the deadline of the job, or if its pod is deleted.
      Runtime.getRuntime().addShutdownHook(new Thread(uninstall::startOperator));
      System.exit(uninstall.exitCode(force, atMost));
    } catch (KubernetesClientException e) {
      System.out.println("uninstall: the cluster refused: " + e.getMessage());
      System.exit(REFUSED);
    }
  }

  /** It does not throw, so the client is still open when the JVM ends and the hook uses it. */
  private int exitCode(boolean force, Duration atMost) {
    try {
      return run(force, atMost);
    } catch (InterruptedException e) {
      return REFUSED;
    } catch (KubernetesClientException e) {
      out.println("uninstall: the cluster refused: " + e.getMessage());
      return REFUSED;
    }
  }

  int run(boolean force, Duration atMost) throws InterruptedException {
    UninstallPreflight leaving = new UninstallPreflight(cluster.read());
    List<Blocker> blockers = leaving.blockers();
    if (!blockers.isEmpty() && !force) {
      refuse("nothing was changed", blockers);
      startOperator();
      return REFUSED;
    }
    blockers.forEach(this::giveUp);
    if (force) {
      leaving.cancels().forEach(this::take);
    }
    leaving.resumes().forEach(this::take);
    try {
      removable = isRemovable(force, clock.instant().plus(atMost), blockers);
    } finally {
      startOperator();
    }
    return removable ? 0 : REFUSED;
  }

  /** Starts the operator again, unless the uninstall follows. */
  private void startOperator() {
    if (!removable) {
      cluster.startOperator();
    }
  }

  /** A pod may be evicted or suspended until the operator has ended, so the last check follows. */
  private boolean isRemovable(boolean force, Instant end, List<Blocker> known)
      throws InterruptedException {
    UninstallPreflight last;
    do {
      cluster.startOperator();
      if (!isReady(force, end)) {
        return false;
      }
      if (!cluster.stopOperator()) {
        out.println("uninstall: refused; the operator does not end");
        return false;
      }
      last = new UninstallPreflight(cluster.read());
    } while (!last.pending(force).isEmpty());
    List<Blocker> later = last.blockers().stream().filter(one -> !known.contains(one)).toList();
    if (!later.isEmpty() && !force) {
      refuse("this has changed since the start", later);
      return false;
    }
    later.forEach(this::giveUp);
    out.println("uninstall: Stasis can be removed");
    return true;
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

  /** Returns true once nothing is pending; false after a time. */
  private boolean isReady(boolean force, Instant end) throws InterruptedException {
    Instant begin = clock.instant();
    List<String> pending = new UninstallPreflight(cluster.read()).pending(force);
    while (!pending.isEmpty()) {
      Duration left = Duration.between(clock.instant(), end);
      if (left.isNegative() || left.isZero()) {
        out.println(
            "uninstall: refused; after "
                + Duration.between(begin, end).toSeconds()
                + " s these are not finished:");
        pending.forEach(one -> out.println("  - " + one));
        out.println("See: kubectl stasis doctor; then uninstall again.");
        return false;
      }
      cluster.awaitChange(left);
      pending = new UninstallPreflight(cluster.read()).pending(force);
    }
    return true;
  }
}
