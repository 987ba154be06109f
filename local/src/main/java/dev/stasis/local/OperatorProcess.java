package dev.stasis.local;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs the shipped operator as a separate process. Quarkus assembles one application at build time
 * and cannot embed a second one, and this way the mode tests what runs in a cluster.
 */
final class OperatorProcess implements AutoCloseable {

  /** Usually seconds; a machine that is busy with a build may take minutes. */
  private static final Duration READY = Duration.ofSeconds(240);

  /** Interval of polling its readiness, for which there is no event. */
  private static final Duration ASK_EVERY = Duration.ofMillis(100);

  /** An immediate answer, or the machine is too busy for the operator to be ready. */
  private static final Duration ANSWER = Duration.ofSeconds(5);

  /** It finishes running reconciliations, for at most ten seconds. */
  private static final Duration END = Duration.ofSeconds(15);

  private final Path jar;
  private final Path folder;
  private volatile @Nullable Process process;

  OperatorProcess(Path jar, Path folder) {
    this.jar = jar;
    this.folder = folder;
  }

  /** Returns its log. */
  Path log() {
    return folder.resolve("operator.log");
  }

  /**
   * Starts the operator and returns when it is ready. The calling thread must live as long as the
   * operator: the kernel ends the operator with that thread.
   */
  void start(Kubeconfig kubeconfig) throws IOException, InterruptedException {
    int port = freePort();
    ProcessBuilder builder =
        new ProcessBuilder(
                List.of(
                    "setpriv",
                    "--pdeathsig",
                    "KILL",
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx256m",
                    "-Xshare:auto",
                    "-jar",
                    jar.toString()))
            .redirectErrorStream(true)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(log().toFile());
    // In a pod, these variables would point to another API server.
    builder.environment().keySet().removeIf(name -> name.startsWith("KUBERNETES_"));
    builder.environment().putAll(environment(kubeconfig, port));
    Process started = builder.start();
    process = started;
    long until = System.nanoTime() + READY.toNanos();
    while (!isReady(port)) {
      if (started.waitFor(ASK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException(
            "operator: expected readiness, got exit code %d; see %s"
                .formatted(started.exitValue(), log()));
      }
      if (System.nanoTime() > until) {
        throw new IOException(
            "operator: expected readiness within %d s, got none; see %s"
                .formatted(READY.toSeconds(), log()));
      }
    }
  }

  private Map<String, String> environment(Kubeconfig kubeconfig, int port) throws IOException {
    return Map.of(
        "QUARKUS_LOG_CONSOLE_JSON_ENABLED",
        "false",
        "KUBECONFIG",
        kubeconfig.write(folder.resolve("operator.kubeconfig")).toString(),
        // The server behind it supports only HTTP 1.1.
        "HTTP2_DISABLE",
        "true",
        // Only the profile prod has leader election; there is no other replica here.
        "QUARKUS_PROFILE",
        "single-machine",
        "POD_NAME",
        "single-machine",
        "POD_NAMESPACE",
        Machine.OPERATOR_NAMESPACE,
        "STASIS_OPERATOR_HOLDER_IMAGE",
        Machine.HOLDER_IMAGE,
        // The server behind it calls no webhooks.
        "STASIS_WEBHOOK_ENABLED",
        "false",
        "QUARKUS_HTTP_HOST",
        "127.0.0.1",
        "QUARKUS_HTTP_PORT",
        Integer.toString(port));
  }

  private static boolean isReady(int port) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/q/health/ready"))
            .timeout(ANSWER)
            .build();
    try {
      return HttpClient.newHttpClient()
              .send(request, HttpResponse.BodyHandlers.discarding())
              .statusCode()
          == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Waits until it exits, and returns its exit code. */
  int awaitEnd() throws InterruptedException {
    Process running = process;
    return running == null ? 0 : running.waitFor();
  }

  @Override
  public void close() {
    Process running = process;
    if (running == null) {
      return;
    }
    running.destroy();
    try {
      if (!running.waitFor(END.toMillis(), TimeUnit.MILLISECONDS)) {
        running.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      running.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
