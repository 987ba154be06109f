package dev.stasis.e2e.kube;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/** A Prometheus that scrapes operator, agents and API server, and evaluates alerting rules. */
final class Prometheus implements AutoCloseable {

  /** The API server publishes thousands of series; one of them is in an alert. */
  private static final String OF_API_SERVER = "apiserver_admission_webhook_fail_open_count";

  /** A query takes milliseconds; on a busy machine seconds. */
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private final ObjectMapper json = new ObjectMapper();
  private final HttpClient client = HttpClient.newHttpClient();
  private final LocalProcess process;
  private final Path folder;
  private final String address;

  /**
   * Starts it.
   *
   * @param program the program prometheus
   * @param targets a file of {@link ScrapeTargets}
   * @param rules groups of rules
   */
  Prometheus(String program, Path targets, JsonNode rules, Config cluster) throws IOException {
    folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-prometheus");
    address = "127.0.0.1:" + Commands.freePort();
    write("rules.json", json.writeValueAsBytes(rules));
    Path configuration =
        write("prometheus.json", json.writeValueAsBytes(configuration(targets, cluster)));
    process =
        new LocalProcess(
            "prometheus",
            List.of(
                program,
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=" + address),
            Map.of(),
            folder.resolve("log"));
    process.start();
    Awaitility.await("the first scrape of operator and agents")
        .atMost(Scenario.PATIENCE)
        .until(
            () -> {
              process.checkAlive();
              return isUp() && query("stasis_leader == 1").size() == 1;
            });
  }

  private Map<String, Object> configuration(Path targets, Config cluster) throws IOException {
    URI server = URI.create(cluster.getMasterUrl());
    Map<String, Object> identity =
        Map.of(
            "ca_file", decoded("ca.crt", cluster.getCaCertData()),
            "cert_file", decoded("client.crt", cluster.getClientCertData()),
            "key_file", decoded("client.key", cluster.getClientKeyData()));
    return Map.of(
        "global",
        Map.of("scrape_interval", "2s", "evaluation_interval", "1s"),
        "rule_files",
        List.of("rules.json"),
        "scrape_configs",
        List.of(
            Map.of(
                "job_name",
                "stasis",
                "metrics_path",
                "/q/metrics",
                "file_sd_configs",
                List.of(Map.of("files", List.of(targets.toString())))),
            Map.of(
                "job_name",
                "apiserver",
                "scheme",
                "https",
                "scrape_interval",
                "5s",
                "scrape_timeout",
                "5s",
                "tls_config",
                identity,
                "static_configs",
                List.of(Map.of("targets", List.of(server.getHost() + ":" + server.getPort()))),
                "metric_relabel_configs",
                List.of(
                    Map.of(
                        "source_labels",
                        List.of("__name__"),
                        "regex",
                        OF_API_SERVER,
                        "action",
                        "keep")))));
  }

  private String decoded(String name, String base64) throws IOException {
    return write(name, Base64.getDecoder().decode(base64)).toString();
  }

  private Path write(String name, byte[] content) throws IOException {
    return Files.write(folder.resolve(name), content);
  }

  private boolean isUp() {
    try {
      return query("vector(1)").size() == 1;
    } catch (UncheckedIOException e) {
      return false; // it does not listen yet
    }
  }

  /** Returns the series of an expression now. */
  JsonNode query(String expression) {
    return get("query?query=" + encoded(expression));
  }

  /** Returns the series of an expression, a value for each second. */
  JsonNode query(String expression, Instant from, Instant to) {
    return get(
        "query_range?step=1&query=%s&start=%d&end=%d"
            .formatted(encoded(expression), from.getEpochSecond(), to.getEpochSecond()));
  }

  private static String encoded(String expression) {
    return URLEncoder.encode(expression, StandardCharsets.UTF_8);
  }

  private JsonNode get(String path) {
    try {
      String said =
          client
              .send(
                  HttpRequest.newBuilder(URI.create("http://" + address + "/api/v1/" + path))
                      .timeout(ANSWER)
                      .build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
      JsonNode answer = json.readTree(said);
      if (!answer.path("status").asText().equals("success")) {
        throw new AssertionError("prometheus: " + said);
      }
      return answer.path("data").path("result");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    process.close();
    new Shell().run("rm", "-rf", folder.toString());
  }
}
