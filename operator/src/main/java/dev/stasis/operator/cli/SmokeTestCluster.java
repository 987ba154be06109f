package dev.stasis.operator.cli;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
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

/** The smoke test's access to a cluster, with one time limit for all waits together. */
final class SmokeTestCluster {

  /** Time to remove an artifact of a few MiB and a pod that ends on SIGTERM. */
  private static final Duration CLEARING = Duration.ofSeconds(50);

  private final KubernetesClient client;
  private final SmokeTestSettings settings;
  private final Clock clock;
  private final Instant end;

  SmokeTestCluster(KubernetesClient client, SmokeTestSettings settings, Clock clock) {
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

  /** Deletes the objects of this test, or of an earlier one. */
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
      throw new SmokeTestFailure(
          "%s %s: not deleted within %d s"
              .formatted(HasMetadata.getKind(kind), settings.name(), within.toSeconds()));
    }
  }

  <T extends HasMetadata> T await(Class<T> kind, String what, Predicate<HasMetadata> wanted) {
    var handle = client.resources(kind).inNamespace(settings.namespace()).withName(settings.name());
    try {
      return handle.waitUntilCondition(
          found -> found != null && wanted.test(found), left().toMillis(), TimeUnit.MILLISECONDS);
    } catch (KubernetesClientTimeoutException late) {
      throw new SmokeTestFailure(
          "expected %s within %d s, got: %s"
              .formatted(what, settings.atMost().toSeconds(), said(handle.get())));
    }
  }

  /** Returns the number of the last step that the pod has printed; 0 for none. */
  long lastStep(String pod) {
    String log =
        client
            .pods()
            .inNamespace(settings.namespace())
            .withName(pod)
            .inContainer(SmokeTestPod.CONTAINER)
            .getLog();
    return log.lines()
        .flatMap(line -> CountedStep.of(line).stream())
        .mapToLong(CountedStep::number)
        .max()
        .orElse(0);
  }

  /** Waits until the pod has printed that many steps after the given one, all of them right. */
  List<CountedStep> steps(String pod, long behind, int wanted) {
    await(Pod.class, "pod " + pod + " running", found -> hasBegun((Pod) found));
    try (LogWatch log =
            client
                .pods()
                .inNamespace(settings.namespace())
                .withName(pod)
                .inContainer(SmokeTestPod.CONTAINER)
                .watchLog();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(log.getOutput(), StandardCharsets.UTF_8))) {
      CompletableFuture<List<CountedStep>> read =
          CompletableFuture.supplyAsync(() -> read(lines, behind, wanted));
      return read.get(left().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new SmokeTestFailure(
          "pod %s: expected %d steps within %d s, got fewer"
              .formatted(pod, wanted, settings.atMost().toSeconds()));
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof SmokeTestFailure failure) {
        throw failure;
      }
      throw new SmokeTestFailure("pod %s: its log cannot be read: %s".formatted(pod, failed));
    } catch (IOException failed) {
      throw new SmokeTestFailure("pod %s: its log cannot be read: %s".formatted(pod, failed));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SmokeTestFailure("interrupted");
    }
  }

  private static List<CountedStep> read(BufferedReader lines, long behind, int wanted) {
    List<CountedStep> steps = new ArrayList<>();
    try {
      String line = "";
      while (steps.size() < wanted) {
        String next = lines.readLine();
        if (next == null) {
          throw new SmokeTestFailure("the program exited after: " + line);
        }
        line = next;
        CountedStep.of(line).filter(step -> step.number() > behind).ifPresent(steps::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (CountedStep step : steps) {
      if (!step.right()) {
        throw new SmokeTestFailure(
            "step %d: device memory does not contain the written values".formatted(step.number()));
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

  /** Returns the message of an object. */
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
