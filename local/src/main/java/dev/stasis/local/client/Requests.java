package dev.stasis.local.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Requests to the single-machine mode. */
final class Requests {

  private static final System.Logger LOG = System.getLogger(Requests.class.getName());
  private static final ObjectMapper JSON = new ObjectMapper();

  /** An answer from memory takes milliseconds. */
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private static final int NOT_FOUND = 404;
  private static final int ERRORS_FROM = 300;

  private final String server;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Requests(String server) {
    this.server = server;
  }

  /** The answer; empty when there is none such. */
  Optional<JsonNode> get(String path, boolean table) throws IOException, InterruptedException {
    String form = table ? "application/json;as=Table;v=v1;g=meta.k8s.io" : "application/json";
    HttpResponse<String> answer = ask(request(path).header("Accept", form).GET());
    return answer.statusCode() == NOT_FOUND
        ? Optional.empty()
        : Optional.of(JSON.readTree(well(answer)));
  }

  /** Each line of an answer as it comes; returns when it ends. */
  void lines(String path, Consumer<String> line) throws IOException, InterruptedException {
    // Nobody knows when it ends: whoever started this program ends it.
    HttpResponse<Stream<String>> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(server + path)).GET().build(),
            HttpResponse.BodyHandlers.ofLines());
    try (Stream<String> lines = answer.body()) {
      if (answer.statusCode() >= ERRORS_FROM) {
        throw new IOException(path + ": " + answer.statusCode() + " " + lines.toList());
      }
      lines.forEach(line);
    }
  }

  /** Each change of one object as it comes. */
  void watch(String path, String name, Consumer<JsonNode> change)
      throws IOException, InterruptedException {
    lines(
        path + "?watch=true&fieldSelector=metadata.name%3D" + name,
        line -> {
          try {
            change.accept(JSON.readTree(line));
          } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** Says when it goes; who waits for that also looks, for the watch may break. */
  void awaitDeleted(String path, String name, CountDownLatch gone) {
    try {
      watch(
          path,
          name,
          change -> {
            if (change.path("type").asText().equals("DELETED")) {
              gone.countDown();
            }
          });
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "watch of " + name, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void send(String method, String path, String body) throws IOException, InterruptedException {
    String type = method.equals("PATCH") ? "application/merge-patch+json" : "application/json";
    well(
        ask(
            request(path)
                .header("Content-Type", type)
                .method(method, HttpRequest.BodyPublishers.ofString(body))));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(server + path)).timeout(ANSWER);
  }

  private HttpResponse<String> ask(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String well(HttpResponse<String> answer) throws IOException {
    if (answer.statusCode() >= ERRORS_FROM) {
      throw new IOException(
          answer.request().uri().getPath() + ": " + answer.statusCode() + " " + answer.body());
    }
    return answer.body();
  }
}
