package dev.stasis.operator.cli;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientTimeoutException;
import io.fabric8.kubernetes.client.dsl.LogWatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a trial does in a cluster, and how long it waits for it: all together for its time. */
final class TrialCluster {

  /** To remove an artifact of some MiB and a pod that ends on SIGTERM. */
  private static final Duration CLEARING = Duration.ofSeconds(50);

  private final KubernetesClient client;
  private final TrialSettings settings;
  private final Clock clock;
  private final Instant end;

  TrialCluster(KubernetesClient client, TrialSettings settings, Clock clock) {
    this.client = client;
    this.settings = settings;
    this.clock = clock;
    this.end = clock.instant().plus(settings.atMost());
  }

  void create(HasMetadata object) {
    client.resource(object).create();
  }

  /** Deletes it and waits until it is gone. */
  void delete(HasMetadata object) {
    client.resource(object).delete();
    gone(object.getClass().asSubclass(HasMetadata.class), left());
  }

  /** Takes away what this trial, or one before, has made. */
  void clear() {
    List<Class<? extends HasMetadata>> kinds =
        List.of(GpuRestore.class, GpuCheckpoint.class, Pod.class);
    for (Class<? extends HasMetadata> kind : kinds) {
      client.resources(kind).inNamespace(settings.namespace()).withName(settings.name()).delete();
      gone(kind, CLEARING);
    }
  }

  private <T extends HasMetadata> void gone(Class<T> kind, Duration within) {
    try {
      client
          .resources(kind)
          .inNamespace(settings.namespace())
          .withName(settings.name())
          .waitUntilCondition(found -> found == null, within.toMillis(), TimeUnit.MILLISECONDS);
    } catch (KubernetesClientTimeoutException late) {
      throw new TrialFailure(
          "%s %s: wanted it gone within %d s, found it there"
              .formatted(HasMetadata.getKind(kind), settings.name(), within.toSeconds()));
    }
  }

  <T extends HasMetadata> T await(Class<T> kind, String what, Predicate<HasMetadata> wanted) {
    var handle = client.resources(kind).inNamespace(settings.namespace()).withName(settings.name());
    try {
      return handle.waitUntilCondition(
          found -> found != null && wanted.test(found), left().toMillis(), TimeUnit.MILLISECONDS);
    } catch (KubernetesClientTimeoutException late) {
      throw new TrialFailure(
          "wanted %s within %d s, found: %s"
              .formatted(what, settings.atMost().toSeconds(), said(handle.get())));
    }
  }

  /** The number of the last step that the pod has printed by now; 0 for none. */
  long lastStep(String pod) {
    String log =
        client
            .pods()
            .inNamespace(settings.namespace())
            .withName(pod)
            .inContainer(TrialPod.CONTAINER)
            .getLog();
    return log.lines()
        .flatMap(line -> CountedStep.of(line).stream())
        .mapToLong(CountedStep::number)
        .max()
        .orElse(0);
  }

  /** Waits until the pod has printed that many steps behind the given one, all of them right. */
  List<CountedStep> steps(String pod, long behind, int wanted) {
    await(Pod.class, "pod " + pod + " running", found -> hasBegun((Pod) found));
    try (LogWatch log =
            client
                .pods()
                .inNamespace(settings.namespace())
                .withName(pod)
                .inContainer(TrialPod.CONTAINER)
                .watchLog();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(log.getOutput(), StandardCharsets.UTF_8))) {
      CompletableFuture<List<CountedStep>> read =
          CompletableFuture.supplyAsync(() -> read(lines, behind, wanted));
      return read.get(left().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new TrialFailure(
          "pod %s: wanted %d steps within %d s, found fewer"
              .formatted(pod, wanted, settings.atMost().toSeconds()));
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof TrialFailure failure) {
        throw failure;
      }
      throw new TrialFailure("pod %s: its log cannot be read: %s".formatted(pod, failed));
    } catch (IOException failed) {
      throw new TrialFailure("pod %s: its log cannot be read: %s".formatted(pod, failed));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TrialFailure("interrupted");
    }
  }

  private static List<CountedStep> read(BufferedReader lines, long behind, int wanted) {
    List<CountedStep> steps = new ArrayList<>();
    try {
      String line = "";
      while (steps.size() < wanted) {
        String next = lines.readLine();
        if (next == null) {
          throw new TrialFailure("the program: wanted it to count, found it ended after: " + line);
        }
        line = next;
        CountedStep.of(line).filter(step -> step.number() > behind).ifPresent(steps::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (CountedStep step : steps) {
      if (!step.right()) {
        throw new TrialFailure(
            "step %d: wanted what was put into device memory, found something else"
                .formatted(step.number()));
      }
    }
    return steps;
  }

  private static boolean hasBegun(Pod pod) {
    return pod.getStatus() != null
        && List.of("Running", "Succeeded", "Failed").contains(pod.getStatus().getPhase());
  }

  private Duration left() {
    Duration left = Duration.between(clock.instant(), end);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** What an object says of itself. */
  private static String said(@Nullable HasMetadata object) {
    if (object == null) {
      return "none";
    }
    if (object instanceof Pod pod) {
      return pod.getStatus().getPhase()
          + pod.getStatus().getConditions().stream()
              .filter(one -> one.getMessage() != null && !one.getMessage().isEmpty())
              .map(one -> ", " + one.getMessage())
              .findFirst()
              .orElse("");
    }
    ConditionedStatus status =
        object instanceof GpuCheckpoint checkpoint
            ? checkpoint.getStatus()
            : ((GpuRestore) object).getStatus();
    return status == null ? "no status" : status.getReason() + ", " + status.getMessage();
  }
}
