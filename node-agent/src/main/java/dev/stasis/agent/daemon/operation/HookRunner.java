package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.ContainerExec;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.HttpAction;
import dev.stasis.api.v1beta1.common.OnHookFailure;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a user's hooks before and after a freeze. */
final class HookRunner {

  private static final System.Logger LOG = System.getLogger(HookRunner.class.getName());

  /** The API's default: a hook notifies the workload, it does not do long work. */
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

  /** The API's maximum; an object of an older version may have more. */
  private static final Duration MOST = Duration.ofMinutes(5);

  /** The runtime takes up to 10 s more to kill a command and to report that. */
  private static final Duration GRACE = Duration.ofSeconds(15);

  private final ContainerExec exec;
  private final HttpClient http =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER).build();

  HookRunner(ContainerExec exec) {
    this.exec = exec;
  }

  /**
   * Runs hooks in order; stops at the first failure unless its policy is Continue.
   *
   * @return the failures, and whether they end the operation
   */
  Ran run(@Nullable List<Hook> hooks, String which, PodLookup.Place place, Limit limit)
      throws InterruptedException {
    List<String> failures = new ArrayList<>();
    int number = 0;
    for (Hook hook : hooks == null ? List.<Hook>of() : hooks) {
      number++;
      Optional<String> failure = once(hook, place, limit);
      if (failure.isPresent()) {
        String what = "hook %s[%d]: %s".formatted(which, number - 1, failure.get());
        LOG.log(Level.WARNING, what);
        failures.add(what);
        if (hook.onFailure() != OnHookFailure.CONTINUE || limit.stop().isDone()) {
          return new Ran(failures, true);
        }
      }
    }
    return new Ran(failures, false);
  }

  /**
   * The result.
   *
   * @param failures one sentence for each failed hook
   * @param fatal whether the last of them ends the operation
   */
  record Ran(List<String> failures, boolean fatal) {
    Ran {
      failures = List.copyOf(failures);
    }

    String sentence() {
      return String.join("; ", failures);
    }
  }

  /**
   * What ends hooks early.
   *
   * @param end deadline of all of them
   * @param stop completes when they are canceled
   */
  record Limit(Clock clock, Instant end, CompletableFuture<?> stop) {

    /** The time limit of all hooks after a freeze together; a cancel does not end them. */
    static Limit after(Clock clock) {
      return new Limit(clock, clock.instant().plus(MOST), new CompletableFuture<>());
    }

    private Duration left() {
      return Duration.between(clock.instant(), end);
    }
  }

  /** In a separate thread, because the HTTP server may belong to a hostile workload. */
  private Optional<String> once(Hook hook, PodLookup.Place place, Limit limit)
      throws InterruptedException {
    Duration allowed =
        Stream.of(hook.timeout() == null ? DEFAULT_TIMEOUT : hook.timeout().duration(), MOST)
            .reduce(limit.left(), (one, other) -> one.compareTo(other) < 0 ? one : other);
    if (limit.stop().isDone() || allowed.isNegative() || allowed.isZero()) {
      return Optional.of("no time was left for it");
    }
    FutureTask<Optional<String>> task = new FutureTask<>(() -> carriedOut(hook, place, allowed));
    CompletableFuture<Void> ended = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              task.run();
              ended.complete(null);
            },
            "hook");
    thread.setDaemon(true);
    thread.start();
    try {
      CompletableFuture.anyOf(ended, limit.stop())
          .get(allowed.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
      return task.isDone() ? task.get() : Optional.of("cancelled while it ran");
    } catch (TimeoutException e) {
      return Optional.of("no end within " + new HumanDuration(allowed).text());
    } catch (ExecutionException e) {
      return Optional.of(String.valueOf(e.getCause()));
    } finally {
      task.cancel(true);
    }
  }

  private Optional<String> carriedOut(Hook hook, PodLookup.Place place, Duration timeout)
      throws InterruptedException {
    try {
      if (hook.exec() != null) {
        return exec(place.container().id(), hook.exec().command(), timeout);
      }
      return hook.http() == null
          ? Optional.of("expected exec or http, got neither")
          : http(place.pod(), hook.http(), timeout);
    } catch (IOException | IllegalArgumentException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private Optional<String> exec(String containerId, List<String> command, Duration timeout)
      throws NodeApiException {
    ContainerExec.Result result = exec.run(containerId, command, timeout);
    if (result instanceof ContainerExec.Result.Exited exited) {
      return exited.exitCode() == 0
          ? Optional.empty()
          : Optional.of(
              "%s: expected exit code 0, got %d: %s"
                  .formatted(command.get(0), exited.exitCode(), exited.output().strip()));
    }
    return Optional.of(
        result instanceof ContainerExec.Result.NotStarted not
            ? command.get(0) + ": " + not.why()
            : command.get(0) + ": no end within " + new HumanDuration(timeout).text());
  }

  private Optional<String> http(Pod pod, HttpAction action, Duration timeout)
      throws IOException, InterruptedException {
    String address = pod.getStatus() == null ? null : pod.getStatus().getPodIP();
    if (address == null) {
      return Optional.of("address of the pod: expected one, got none");
    }
    String host = address.contains(":") ? "[" + address + "]" : address;
    URI uri = URI.create("http://%s:%d%s".formatted(host, action.port(), action.path()));
    String method = action.method() == null ? "POST" : action.method().value();
    HttpResponse<Void> answer =
        http.send(
            HttpRequest.newBuilder(uri)
                .method(
                    method.toUpperCase(java.util.Locale.ROOT), HttpRequest.BodyPublishers.noBody())
                .timeout(timeout)
                .build(),
            HttpResponse.BodyHandlers.discarding());
    int status = answer.statusCode();
    return status >= 200 && status < 300
        ? Optional.empty()
        : Optional.of("%s %s: expected a status of 2xx, got %d".formatted(method, uri, status));
  }
}
