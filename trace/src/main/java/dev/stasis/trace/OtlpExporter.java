package dev.stasis.trace;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Sends spans to a collector by OTLP over HTTP, from a separate thread. A collector that does not
 * answer causes lost spans, but never blocks work.
 */
public final class OtlpExporter implements Spans, AutoCloseable {

  private static final System.Logger LOG = System.getLogger(OtlpExporter.class.getName());

  /** An operation has about twenty; a longer queue means that the collector is down. */
  private static final int MOST_WAITING = 4096;

  private static final int MOST_AT_ONCE = 256;

  /** A collector answers in milliseconds; OpenTelemetry's own exporters wait as long. */
  private static final Duration ANSWER = Duration.ofSeconds(10);

  /** For the remaining spans at the end; a pod's grace period is little longer. */
  private static final Duration LAST_ANSWER = Duration.ofSeconds(3);

  /** Interval of the warning about lost spans. */
  private static final Duration COMPLAIN_EVERY = Duration.ofMinutes(5);

  private final BlockingQueue<Span> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private final URI endpoint;
  private final OtlpJson json;
  private final HttpClient client;
  private final Thread thread;
  private volatile boolean closing;
  private long complainedNanos = System.nanoTime() - COMPLAIN_EVERY.toNanos();

  /**
   * Starts the exporter.
   *
   * @param endpoint the collector's URL: http://HOST:4318
   * @param resource attributes of this program: {@code service.name} and others
   * @throws IllegalArgumentException if the endpoint is invalid
   */
  public OtlpExporter(String endpoint, Map<String, String> resource) {
    this.endpoint = URI.create(endpoint.replaceAll("/+$", "") + "/v1/traces");
    if (!String.valueOf(this.endpoint.getScheme()).matches("https?")) {
      throw new IllegalArgumentException(
          "endpoint of traces: expected http://HOST:PORT or https, got " + endpoint);
    }
    this.json = new OtlpJson(resource);
    this.client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(ANSWER).build();
    this.thread = new Thread(this::send, "traces");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public boolean areWanted() {
    return true;
  }

  @Override
  public void add(Span span) {
    if (!waiting.offer(span)) {
      complain("more than " + MOST_WAITING + " wait");
    }
  }

  private void send() {
    try {
      while (!closing || !waiting.isEmpty()) {
        Span first = closing ? waiting.poll() : waiting.poll(1, TimeUnit.SECONDS);
        if (first != null) {
          List<Span> batch = new ArrayList<>(List.of(first));
          waiting.drainTo(batch, MOST_AT_ONCE - 1);
          post(batch);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void post(List<Span> batch) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(endpoint)
            .timeout(closing ? LAST_ANSWER : ANSWER)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json.of(batch)))
            .build();
    try {
      HttpResponse<Void> answer = client.send(request, HttpResponse.BodyHandlers.discarding());
      if (answer.statusCode() / 100 != 2) {
        complain("the collector answered " + answer.statusCode());
      }
    } catch (IOException e) {
      complain(e.toString());
    }
  }

  private synchronized void complain(String why) {
    if (System.nanoTime() - complainedNanos >= COMPLAIN_EVERY.toNanos()) {
      complainedNanos = System.nanoTime();
      LOG.log(System.Logger.Level.WARNING, "Traces are lost: {0}: {1}", endpoint, why);
    }
  }

  /** Sends the remaining spans, with a short time limit. */
  @Override
  public void close() {
    closing = true;
    try {
      thread.join(LAST_ANSWER.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
