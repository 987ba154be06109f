package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A component as a process of this machine, with its output in a file. */
final class LocalProcess implements Component, AutoCloseable {

  /** The kernel ends a killed process at once; one in a driver call takes longer. */
  private static final int END_SECONDS = 60;

  /** Writing an archive of classes takes five seconds, on a busy machine a minute. */
  private static final int REGULAR_END_SECONDS = 180;

  /** Said at once, or the machine is too busy to be ready. */
  private static final Duration HEALTH = Duration.ofSeconds(5);

  /** What never starts ends at once each time. */
  private static final int MOST_ENDS = 5;

  /** So it ends by itself: where it cannot start, and an operator that is the leader no more. */
  private static final int GIVEN_UP = 1;

  /** What explains an end is in the last lines. */
  private static final int LAST_CHARACTERS = 4000;

  private final String name;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Path log;
  private volatile @Nullable Process process;
  private @Nullable CompletableFuture<Void> watched;
  private Map<String, String> changed = Map.of();
  private boolean wanted;
  private volatile int ends;
  private final List<String> crashes = new ArrayList<>();

  LocalProcess(String name, List<String> command, Map<String, String> environment, Path log) {
    this.name = name;
    this.command = List.copyOf(command);
    this.environment = Map.copyOf(environment);
    this.log = log;
  }

  @Override
  public synchronized void start() {
    if (process != null && process.isAlive()) {
      return;
    }
    wanted = true;
    ends = 0;
    launch();
  }

  /** Starts it anew with something else in its environment; with nothing, as it was. */
  void restartWith(Map<String, String> environment) {
    kill();
    synchronized (this) {
      changed = Map.copyOf(environment);
    }
    start();
  }

  private void launch() {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    builder.environment().putAll(changed);
    try {
      Process started = builder.start();
      process = started;
      watched = started.onExit().thenAccept(this::startAgain);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void kill() {
    end(Process::destroyForcibly, END_SECONDS, "SIGKILL");
  }

  /** Ends it as the kubelet does. */
  void end() {
    end(
        running -> {
          running.destroy();
          return running;
        },
        REGULAR_END_SECONDS,
        "SIGTERM");
  }

  private void end(UnaryOperator<Process> signal, int seconds, String what) {
    Process victim;
    synchronized (this) {
      wanted = false;
      victim = process;
    }
    if (victim == null) {
      return;
    }
    try {
      if (!signal.apply(victim).waitFor(seconds, TimeUnit.SECONDS)) {
        throw new AssertionError(name + " does not end after " + what);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public String log() {
    try {
      return Files.readString(log);
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path logFile() {
    return log;
  }

  /** Of the program itself. */
  long pid() {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("it does not run");
    }
    return running.pid();
  }

  /** As the kubelet does: a first list may take longer on a loaded machine than it waits. */
  private void startAgain(Process ended) {
    synchronized (this) {
      if (!wanted || ended != process) {
        return;
      }
      if (ended.exitValue() != GIVEN_UP) {
        crashes.add(described(ended));
      }
      if (++ends <= MOST_ENDS) {
        launch();
      }
    }
  }

  @Override
  public synchronized List<String> takeCrashes() {
    List<String> taken = List.copyOf(crashes);
    crashes.clear();
    return taken;
  }

  private String described(Process ended) {
    String all = log();
    return "%s ended with %d: %s"
        .formatted(
            name, ended.exitValue(), all.substring(Math.max(0, all.length() - LAST_CHARACTERS)));
  }

  /** Fails with the reason when it does not stay up, however often it is started. */
  void checkAlive() {
    Process last = process;
    if (last != null && !last.isAlive() && ends > MOST_ENDS) {
      throw new IllegalStateException(described(last));
    }
  }

  /** How much memory it has, by the kernel's count: now, and at most. */
  String memory() throws IOException {
    Process running = process;
    if (running == null) {
      return "none";
    }
    return Files.readAllLines(Path.of("/proc/" + running.pid() + "/status")).stream()
        .filter(line -> line.startsWith("VmRSS:") || line.startsWith("VmHWM:"))
        .map(line -> line.replaceAll("\\s+", " "))
        .collect(Collectors.joining(", "));
  }

  /** Where it tells of its health and metrics. */
  String address() {
    return "127.0.0.1:" + environment.getOrDefault("QUARKUS_HTTP_PORT", "8080");
  }

  /** Whether it says that it is ready. */
  boolean isReady() {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + address() + "/q/health/ready"))
            .timeout(HEALTH)
            .build();
    try {
      return HttpClient.newHttpClient()
              .send(request, HttpResponse.BodyHandlers.discarding())
              .statusCode()
          == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    kill();
    CompletableFuture<Void> end = watched;
    if (end != null) {
      end.join();
    }
  }
}
