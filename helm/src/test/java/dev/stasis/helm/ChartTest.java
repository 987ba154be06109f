package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChartTest {
  private static final Path CHANGED = Path.of("src/test/resources/changed.yaml");
  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  /** Writes the golden files anew. */
  private static final boolean WRITE = Boolean.getBoolean("stasis.golden.write");

  private final Chart chart = new Chart(ChartFilesTest.CHART);

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by JUnit
  private Path temp;

  @Test
  void helmLintReportsNothing() {
    assertThat(chart.lint()).isEmpty();
  }

  @Test
  void theRenderedManifestsEqualTheReviewedOnes() throws IOException {
    String yaml =
        chart.render(
            "stasis",
            "stasis-system",
            Map.of(
                "image.registry", "registry.test", "crds.install", "false", "crds.known", "true"),
            List.of());
    isGolden("default.yaml", yaml);
  }

  @Test
  void everyChangedValueAppearsInTheManifests() throws IOException {
    isGolden(
        "changed.yaml", chart.render("gpu", "tools", Map.of(), List.of(CHANGED.toAbsolutePath())));
  }

  @Test
  void everyValueIsChangedInSomeTest() throws IOException {
    SortedMap<String, Object> defaults = leaves(ChartFilesTest.CHART.resolve("values.yaml"));
    SortedMap<String, Object> changed = leaves(CHANGED);

    // These take away what the other files show; the tests of the policies turn them.
    List<String> kept =
        List.of("rbac.create", "admission.enabled", "defaultStore.create", "webhook.enabled");
    defaults.forEach(
        (name, value) -> {
          assertThat(changed).as("values of changed.yaml").containsKey(name);
          if (!kept.contains(name)) {
            assertThat(changed.get(name)).as(name).isNotEqualTo(value);
          }
        });
  }

  @Test
  void everyValueHasAComment() throws IOException {
    List<String> lines = Files.readAllLines(ChartFilesTest.CHART.resolve("values.yaml"));
    // Said once for two, or by the name alone.
    List<String> clear =
        List.of("labels", "extraVolumeMounts", "podAnnotations", "tolerations", "affinity", "name");
    for (int i = 1; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.matches("[a-zA-Z]+: .+") || clear.contains(line.substring(0, line.indexOf(':')))) {
        continue;
      }
      String before = lines.get(i - 1).strip();
      assertThat(before).as("comment before \"%s\"", line).matches("#.+|[a-zA-Z]+: ?.*");
    }
  }

  @Test
  void aMissingRegistryIsReportedWithARemedy() {
    assertThatThrownBy(() -> chart.render("stasis", "stasis-system", Map.of(), List.of()))
        .hasMessageContaining("image.registry: required")
        .hasMessageContaining("images/build");
  }

  @ParameterizedTest
  @CsvSource({
    "operator.replica, 3, 'additional properties ''replica'' not allowed'",
    "operator.replicas, 0, 'minimum: got 0, want 1'",
    "image.digests.agent, latest, 'does not match pattern'",
    "image.pullPolicy, Sometimes, 'must be one of'",
    "agent.paths.state, /var/lib/stasis, 'does not match pattern'",
    "agent.paths.memoryStage, /var/tmp/stage, 'does not match pattern'",
    "agent.paths.kubelet, kubelet, 'does not match pattern'",
    "agent.terminationGracePeriodSeconds, 30, 'minimum: got 30, want 110'",
    "agent.maxUnavailable, none, 'maxUnavailable'",
    "defaultStore.path, /, 'does not match pattern'",
    "operator.orphanAfter, 15 minutes, 'does not match pattern'",
    "admission.enabled, maybe, 'got string, want boolean'",
    "metrics.port, 80, 'got 80, want 1,024'",
    "webhook.url, http://operator.test, 'does not match pattern'",
    "eviction.deadline, never, 'does not match pattern'",
    "tracing.endpoint, collector:4317, 'does not match pattern'",
    "test.timeoutSeconds, 5, 'minimum: got 5, want 60'",
  })
  void aWrongValueIsRefusedByName(String name, String value, String why) {
    assertThatThrownBy(
            () ->
                chart.render(
                    "stasis",
                    "stasis-system",
                    Map.of("image.registry", "registry.test", name, value),
                    List.of()))
        .hasMessageContaining(name.substring(0, name.lastIndexOf('.')).replace('.', '/'))
        .hasMessageContaining(why);
  }

  /**
   * Of the wrong kind: a new value that the schema does not know, or takes for anything, fails
   * here.
   */
  @ParameterizedTest
  @MethodSource("names")
  void everyValueOfTheWrongKindIsRefusedByName(String name) throws IOException {
    Object value = leaves(ChartFilesTest.CHART.resolve("values.yaml")).get(name);
    String wrong = value instanceof List || value instanceof Map ? "7" : "[[7]]";
    Path file = Files.writeString(temp.resolve("wrong.yaml"), nested(name, wrong));

    assertThatThrownBy(
            () ->
                chart.render(
                    "stasis",
                    "stasis-system",
                    name.equals("image.registry")
                        ? Map.of()
                        : Map.of("image.registry", "registry.test"),
                    List.of(file.toAbsolutePath())))
        .hasMessageContaining("'/" + name.replace('.', '/') + "'");
  }

  static Stream<String> names() throws IOException {
    return leaves(ChartFilesTest.CHART.resolve("values.yaml")).keySet().stream();
  }

  private static String nested(String name, String value) {
    String[] words = name.split("\\.");
    StringBuilder yaml = new StringBuilder();
    for (int i = 0; i < words.length; i++) {
      yaml.append("  ".repeat(i)).append(words[i]).append(i + 1 < words.length ? ":\n" : ": ");
    }
    return yaml.append(value).append('\n').toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"rbac.create", "admission.enabled", "defaultStore.create", "webhook.enabled"})
  void aPartCanBeLeftOut(String name) {
    String yaml =
        chart.render(
            "stasis",
            "stasis-system",
            Map.of("image.registry", "registry.test", "crds.known", "true", name, "false"),
            List.of());
    assertThat(yaml)
        .doesNotContain(
            switch (name) {
              case "rbac.create" -> "\nkind: ClusterRole\n";
              case "admission.enabled" -> "\nkind: ValidatingAdmissionPolicy\n";
              case "webhook.enabled" -> "\nkind: ValidatingWebhookConfiguration\n";
              default -> "\nkind: GpuCheckpointStore\n";
            });
  }

  /**
   * The operator derives the path from the first part of the name; another path is never served.
   */
  @Test
  void everyWebhookNamesAHookOfTheOperator() {
    String yaml =
        chart.render(
            "stasis",
            "stasis-system",
            Map.of("image.registry", "registry.test", "crds.known", "true"),
            List.of());
    assertThat(yaml.lines().filter(line -> line.matches("- name: .*\\.stasis\\.dev")))
        .hasSize(6)
        .allMatch(line -> line.matches("- name: (evict|preempt|prepare)\\..*"));
  }

  @Test
  void onlyThePeersThatAreNamedReachMetricsAndWebhooks() {
    String yaml =
        chart.render(
            "stasis",
            "stasis-system",
            Map.of(
                "image.registry", "registry.test",
                "crds.known", "true",
                "networkPolicy.metricsFrom[0].podSelector.matchLabels.app", "prometheus",
                "networkPolicy.webhookFrom[0].ipBlock.cidr", "10.0.0.1/32"),
            List.of());
    String metrics =
        """
          - ports: [{port: http, protocol: TCP}]
            from:
            - podSelector:
                matchLabels:
                  app: prometheus
        """;
    assertThat(yaml.split(Pattern.quote(metrics), -1)).as("operator and agents").hasSize(3);
    assertThat(yaml)
        .contains(
            """
              - ports: [{port: webhook, protocol: TCP}]
                from:
                - ipBlock:
                    cidr: 10.0.0.1/32
            """);
  }

  @Test
  void everyObjectHasTheCommonLabels() {
    String yaml =
        chart.render(
            "stasis",
            "stasis-system",
            Map.of(
                "image.registry", "registry.test",
                "commonLabels.cost-center", "research",
                "webhook.certificates", "CertManager",
                "metrics.serviceMonitor.enabled", "true",
                "metrics.prometheusRule.enabled", "true",
                "metrics.dashboards.enabled", "true"),
            List.of());
    assertThat(yaml.split("\n---\n"))
        .filteredOn(object -> object.contains("\nkind: "))
        .hasSizeGreaterThan(40)
        .allSatisfy(object -> assertThat(object + "\n").contains("\n    cost-center: research\n"));
  }

  private static void isGolden(String name, String yaml) throws IOException {
    Path golden = GOLDEN.resolve(name);
    if (WRITE) {
      Files.writeString(golden, yaml);
    }
    assertThat(yaml)
        .as("%s: look at the difference, then -Dtest.argLine=-Dstasis.golden.write=true", golden)
        .isEqualTo(Files.readString(golden));
  }

  private static SortedMap<String, Object> leaves(Path yaml) throws IOException {
    SortedMap<String, Object> leaves = new TreeMap<>();
    collect("", Serialization.unmarshal(Files.readString(yaml), Map.class), leaves);
    return leaves;
  }

  private static void collect(String prefix, Map<?, ?> values, Map<String, Object> leaves) {
    values.forEach(
        (key, value) -> {
          // Maps without fixed names count as one value.
          if (value instanceof Map<?, ?> inner
              && !inner.isEmpty()
              && !isOpen(String.valueOf(key))) {
            collect(prefix + key + ".", inner, leaves);
          } else {
            leaves.put(prefix + key, value);
          }
        });
  }

  private static boolean isOpen(String key) {
    return List.of(
            "resources",
            "nodeSelector",
            "labels",
            "commonLabels",
            "affinity",
            "podLabels",
            "podAnnotations",
            "serviceAccountAnnotations")
        .contains(key);
  }
}
