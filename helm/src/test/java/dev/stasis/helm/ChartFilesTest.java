package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ChartFilesTest {
  static final Path CHART = Path.of("stasis");

  @Test
  void theDefinitionsAreThoseOfTheTypes() throws IOException {
    assertThat(read(CHART.resolve("files/crds")))
        .as("run bin/make-crds and commit")
        .isEqualTo(read(Path.of("../crds/src/main/resources/crds")));
  }

  @Test
  void theVersionIsThatOfTheBuild() throws IOException {
    String pom = Files.readString(Path.of("../pom.xml"));
    Matcher version = Pattern.compile("<version>([^<]+)</version>").matcher(pom);
    assertThat(version.find()).isTrue();
    assertThat(Files.readString(CHART.resolve("Chart.yaml")))
        .contains("\nversion: " + version.group(1) + "\n")
        .contains("\nappVersion: " + version.group(1) + "\n");
  }

  @Test
  void everyAlertHasATestAndARunbook() throws IOException {
    String tests = Files.readString(Path.of("src/test/alerts/alerts.test.yaml"));
    String runbooks = Files.readString(Path.of("../docs/runbooks.md"));
    Matcher alert =
        Pattern.compile("- alert: (\\w+)")
            .matcher(Files.readString(CHART.resolve("files/alerts.yaml")));
    while (alert.find()) {
      String name = alert.group(1);
      assertThat(runbooks).contains("\n## " + name + "\n");
      assertThat(tests).contains("    alertname: " + name + "\n");
    }
  }

  /** An alert that fires in the scenario of another one fails that scenario. */
  @Test
  void everyScenarioOfTheAlertsListsAllThatFire() throws IOException {
    String tests = Files.readString(Path.of("src/test/alerts/alerts.test.yaml"));

    assertThat(tests.split("(?m)^- name: "))
        .hasSizeGreaterThan(13)
        .filteredOn(scenario -> scenario.contains("input_series:"))
        .allSatisfy(
            scenario ->
                assertThat(scenario)
                    .contains("expr: group by (alertname) (ALERTS{alertstate=\"firing\"})"));
  }

  @Test
  void theContainerfileStartsWhatTheBuiltImagesStart() throws IOException {
    String containerfile = Files.readString(Path.of("../images/Containerfile"));
    for (String image : List.of("holder", "operator", "agent")) {
      Map<?, ?> config =
          Serialization.unmarshal(
              Files.readString(Path.of("../images", image, "config.json")), Map.class);
      String stage = containerfile.substring(containerfile.indexOf("AS " + image + "\n"));
      String entrypoint =
          ((List<?>) java.util.Objects.requireNonNull(config.get("Entrypoint")))
              .stream().map(word -> '"' + word.toString() + '"').collect(Collectors.joining(", "));
      assertThat(stage).contains("ENTRYPOINT [" + entrypoint + "]");
      assertThat(stage).contains("USER " + config.get("User") + "\n");
    }
  }

  private static SortedMap<String, String> read(Path folder) throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.list(folder)) {
      for (Path path : paths.toList()) {
        files.put(path.getFileName().toString(), Files.readString(path));
      }
    }
    return files;
  }
}
