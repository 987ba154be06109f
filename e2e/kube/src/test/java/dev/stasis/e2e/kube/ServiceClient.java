package dev.stasis.e2e.kube;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Asks a service for its counter over and over, each time over a new connection. */
final class ServiceClient implements AutoCloseable {

  /** A request takes a millisecond; a client that waits longer than this asks again. */
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  /** Some fifty requests a second. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final InetSocketAddress service;
  private final List<Long> counters = new ArrayList<>();
  private final Map<String, Integer> errors = new TreeMap<>();
  private final ScheduledExecutorService requests = Executors.newSingleThreadScheduledExecutor();
  private long lastAnswer;
  private Duration longestGap = Duration.ZERO;

  private ServiceClient(InetSocketAddress service) {
    this.service = service;
  }

  /**
   * What it has seen.
   *
   * @param counters of all answers, in their order
   * @param errors how many requests failed with which message
   * @param longestGap between two answers
   */
  record Seen(List<Long> counters, Map<String, Integer> errors, Duration longestGap) {

    Seen {
      counters = List.copyOf(counters);
      errors = Map.copyOf(errors);
    }

    @Override
    public String toString() {
      return "%d answers, errors %s, longest gap %d ms"
          .formatted(counters.size(), errors, longestGap.toMillis());
    }
  }

  static ServiceClient start(String address, int port) {
    ServiceClient client = new ServiceClient(new InetSocketAddress(address, port));
    var unused =
        client.requests.scheduleWithFixedDelay(
            client::ask, 0, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    return client;
  }

  private void ask() {
    try (Socket socket = new Socket()) {
      socket.connect(service, (int) TIMEOUT.toMillis());
      socket.setSoTimeout((int) TIMEOUT.toMillis());
      String line =
          new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
              .readLine();
      if (line == null) {
        throw new IOException("closed without an answer");
      }
      answered(Long.parseLong(line));
    } catch (IOException e) {
      failed(String.valueOf(e.getMessage()));
    }
  }

  private synchronized void answered(long counter) {
    long now = System.nanoTime();
    if (!counters.isEmpty()) {
      Duration gap = Duration.ofNanos(now - lastAnswer);
      longestGap = gap.compareTo(longestGap) > 0 ? gap : longestGap;
    }
    lastAnswer = now;
    counters.add(counter);
  }

  private synchronized void failed(String message) {
    errors.merge(message, 1, Integer::sum);
  }

  synchronized Seen seen() {
    return new Seen(counters, errors, longestGap);
  }

  @Override
  public void close() {
    requests.shutdownNow();
  }
}
