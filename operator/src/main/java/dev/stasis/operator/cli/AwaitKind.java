package dev.stasis.operator.cli;

import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs in a first installation, between the CRDs and the first custom object: an API server serves
 * a kind about a second after its CRD was created. Exit code 0: the kind is served.
 */
public final class AwaitKind {

  /** The kind is not served, and the log names it. */
  static final int MISSING = 1;

  /**
   * Each API server behind a load balancer discovers a new kind separately, so one positive answer
   * is not enough.
   */
  static final int ANSWERS = 3;

  private static final Duration BETWEEN_ANSWERS = Duration.ofMillis(300);

  private final BooleanSupplier isOffered;
  private final PrintStream out;

  AwaitKind(BooleanSupplier isOffered, PrintStream out) {
    this.isOffered = isOffered;
    this.out = out;
  }

  /**
   * Arguments: the API version, such as {@code stasis.dev/v1}, the plural of the kind, and seconds.
   */
  public static void main(String[] arguments) {
    String version = arguments[0];
    String plural = arguments[1];
    Duration atMost = Duration.ofSeconds(Long.parseLong(arguments[2]));
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      AwaitKind kind =
          new AwaitKind(() -> has(client.getApiResources(version), plural), System.out);
      System.exit(kind.run(plural + " of " + version, atMost));
    } catch (InterruptedException e) {
      System.exit(MISSING);
    }
  }

  private static boolean has(@Nullable APIResourceList offered, String plural) {
    return offered != null
        && offered.getResources().stream().anyMatch(one -> plural.equals(one.getName()));
  }

  int run(String kind, Duration atMost) throws InterruptedException {
    CompletableFuture<Boolean> offered = new CompletableFuture<>();
    AtomicInteger answers = new AtomicInteger();
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try {
      var unused =
          timer.scheduleWithFixedDelay(
              () -> ask(answers, offered), 0, BETWEEN_ANSWERS.toMillis(), TimeUnit.MILLISECONDS);
      offered.get(atMost.toMillis(), TimeUnit.MILLISECONDS);
      out.println("kinds: the API server offers " + kind);
      return 0;
    } catch (TimeoutException late) {
      out.println(
          "kinds: the API server does not offer %s within %d s; see: kubectl get crd"
              .formatted(kind, atMost.toSeconds()));
    } catch (ExecutionException failed) {
      out.println("kinds: " + failed.getCause());
    } finally {
      timer.shutdownNow();
    }
    return MISSING;
  }

  private void ask(AtomicInteger answers, CompletableFuture<Boolean> offered) {
    try {
      if (!isOffered.getAsBoolean()) {
        answers.set(0);
      } else if (answers.incrementAndGet() == ANSWERS) {
        offered.complete(true);
      }
    } catch (KubernetesClientException failed) {
      answers.set(0);
      out.println("Kinds: the API server did not answer: " + failed.getMessage());
    } catch (RuntimeException | Error unexpected) {
      offered.completeExceptionally(unexpected);
    }
  }
}
