package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.stasis.agent.daemon.kubelet.ContainerExec;
import dev.stasis.agent.daemon.kubelet.ContainerProcess;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.HttpAction;
import dev.stasis.api.v1beta1.common.HttpMethod;
import dev.stasis.api.v1beta1.common.OnHookFailure;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hooks run in order, in the container or against the pod, until one that must not fail does. */
class HookRunnerTest {

  private static final String CONTAINER = "c".repeat(64);

  private final List<String> ran = new ArrayList<>();
  private final Map<String, ContainerExec.Result> results = new HashMap<>();
  private final HookRunner runner = new HookRunner(this::exec);
  private final Clock clock = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);
  private final CompletableFuture<Void> cancelled = new CompletableFuture<>();
  private final CountDownLatch interrupted = new CountDownLatch(1);
  private Duration left = Duration.ofHours(1);

  private ContainerExec.Result exec(String id, List<String> command, Duration deadline)
      throws NodeApiException {
    ran.add(id.substring(0, 1) + " " + String.join(" ", command) + " within " + deadline);
    if (command.contains("no-runtime")) {
      throw new NodeApiException("connection refused");
    }
    if (command.contains("for-ever")) {
      cancelled.complete(null);
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        interrupted.countDown();
      }
    }
    return results.getOrDefault(command.get(0), new ContainerExec.Result.Exited(0, ""));
  }

  private static PodLookup.Place place() {
    return new PodLookup.Place(
        new PodBuilder()
            .withNewStatus()
            .withPodIP(InetAddress.getLoopbackAddress().getHostAddress())
            .endStatus()
            .build(),
        new PodContainer(
            "ml",
            "trainer",
            "uid",
            "main",
            CONTAINER,
            new PodContainer.Image("counter:test", "sha256:c0", List.of()),
            List.of()),
        new ContainerProcess(new ProcessId(1, 1), List.of("/bin/gpu-counter"), List.of()),
        List.of());
  }

  private HookRunner.Ran run(Hook... hooks) throws InterruptedException {
    return runner.run(
        List.of(hooks),
        "before",
        place(),
        new HookRunner.Limit(clock, clock.instant().plus(left), cancelled));
  }

  private static Hook command(String name, OnHookFailure onFailure) {
    return new Hook(new ExecAction(List.of(name, "now")), null, null, onFailure);
  }

  private static Hook request(int port, HttpMethod method, String timeout) {
    return new Hook(null, new HttpAction("/save", port, method), TimeSpan.of(timeout), null);
  }

  @Test
  void hooksRunInOrderWithTheirTimeLimits() throws Exception {
    Hook brief = new Hook(new ExecAction(List.of("second")), null, TimeSpan.of("3s"), null);

    HookRunner.Ran all = run(command("first", OnHookFailure.FAIL), brief);

    assertThat(all).isEqualTo(new HookRunner.Ran(List.of(), false));
    assertThat(ran).containsExactly("c first now within PT10S", "c second within PT3S");
  }

  @Test
  void noHookRunsLongerThanFiveMinutesOrBeyondTheDeadline() throws Exception {
    Hook endless = new Hook(new ExecAction(List.of("a")), null, TimeSpan.of("99999h"), null);
    run(endless);
    left = Duration.ofSeconds(7);
    run(endless);
    left = Duration.ZERO;

    assertThat(run(endless).fatal()).isTrue();
    assertThat(ran).containsExactly("c a within PT5M", "c a within PT7S");
  }

  @Test
  void aCancellationEndsTheRunningHookAndSkipsTheRest() throws Exception {
    HookRunner.Ran all =
        run(command("for-ever", OnHookFailure.CONTINUE), command("next", OnHookFailure.CONTINUE));

    assertThat(all.fatal()).isTrue();
    assertThat(all.sentence()).isEqualTo("hook before[0]: cancelled while it ran");
    assertThat(ran).hasSize(1);
    interrupted.await();
  }

  @Test
  void aFailedHookFailsTheOperationAndSkipsTheRest() throws Exception {
    results.put("flush", new ContainerExec.Result.Exited(3, "disk full\n"));

    HookRunner.Ran all =
        run(command("flush", OnHookFailure.FAIL), command("next", OnHookFailure.FAIL));

    assertThat(all.fatal()).isTrue();
    assertThat(all.sentence())
        .isEqualTo("hook before[0]: flush: expected exit code 0, got 3: disk full");
    assertThat(ran).hasSize(1);
  }

  @Test
  void aFailedOptionalHookIsReportedAndTheNextOneRuns() throws Exception {
    results.put("flush", new ContainerExec.Result.Exited(1, ""));

    HookRunner.Ran all =
        run(command("flush", OnHookFailure.CONTINUE), command("next", OnHookFailure.FAIL));

    assertThat(all.fatal()).isFalse();
    assertThat(all.failures()).singleElement().asString().startsWith("hook before[0]: flush");
    assertThat(ran).hasSize(2);
  }

  @Test
  void aCommandThatTakesTooLongOrCannotStartFails() throws Exception {
    results.put("slow", new ContainerExec.Result.TimedOut(Duration.ofSeconds(10)));
    results.put("none", new ContainerExec.Result.NotStarted("no such file"));

    assertThat(run(command("slow", OnHookFailure.FAIL)).sentence()).contains("slow: no end within");
    assertThat(run(command("none", OnHookFailure.FAIL)).sentence()).contains("none: no such file");
    assertThat(run(new Hook(new ExecAction(List.of("no-runtime")), null, null, null)).sentence())
        .contains("connection refused");
  }

  @ParameterizedTest
  @CsvSource({"204, , false", "302, , true", "503, , true", "200, GET, false"})
  void anHttpHookRequiresA2xxResponseOfThePod(int status, HttpMethod method, boolean fatal)
      throws Exception {
    List<String> asked = new CopyOnWriteArrayList<>();
    HttpServer pod =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    pod.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          exchange.getResponseHeaders().add("Location", "/elsewhere");
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    pod.start();
    try {
      HookRunner.Ran all = run(request(pod.getAddress().getPort(), method, "60s"));

      assertThat(all.fatal()).as(all.sentence()).isEqualTo(fatal);
      assertThat(asked).containsExactly((method == null ? "POST" : "GET") + " /save");
      if (fatal) {
        assertThat(all.sentence()).endsWith("expected a status of 2xx, got " + status);
      }
    } finally {
      pod.stop(0);
    }
  }

  @Test
  void aRequestWithoutAnAnswerEndsWithItsTimeLimit() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      HookRunner.Ran all = run(request(silent.getLocalPort(), HttpMethod.POST, "1s"));

      assertThat(all.fatal()).isTrue();
      assertThat(all.sentence()).contains("timed out");
    }
  }

  @Test
  void aPodThatDoesNotListenFailsTheHook() throws IOException, InterruptedException {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }

    assertThat(run(request(port, HttpMethod.POST, "5s")).fatal()).isTrue();
  }
}
