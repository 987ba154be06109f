package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a viewer of the dashboards can rely on. */
class DashboardsTest {

  private static final int COLUMNS = 24;

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([a-z]\\w*)}?");

  static List<Path> dashboards() throws IOException {
    try (Stream<Path> files = Files.list(ChartFilesTest.CHART.resolve("files/dashboards"))) {
      return files.sorted().toList();
    }
  }

  private static JsonNode read(Path dashboard) throws IOException {
    return new ObjectMapper().readTree(dashboard.toFile());
  }

  private static List<JsonNode> panels(Path dashboard) throws IOException {
    List<JsonNode> panels = new ArrayList<>();
    read(dashboard).path("panels").forEach(panels::add);
    assertThat(panels).hasSizeGreaterThan(5);
    return panels;
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void panelsDoNotOverlap(Path dashboard) throws IOException {
    Set<String> cells = new HashSet<>();
    Set<Integer> ids = new HashSet<>();
    for (JsonNode panel : panels(dashboard)) {
      JsonNode grid = panel.path("gridPos");
      int right = grid.path("x").asInt() + grid.path("w").asInt();
      assertThat(right).as(title(panel)).isLessThanOrEqualTo(COLUMNS);
      assertThat(ids.add(panel.path("id").asInt())).as("id of " + title(panel)).isTrue();
      for (int x = grid.path("x").asInt(); x < right; x++) {
        for (int y = 0; y < grid.path("h").asInt(); y++) {
          String cell = x + "/" + (grid.path("y").asInt() + y);
          assertThat(cells.add(cell)).as(title(panel) + " at " + cell).isTrue();
        }
      }
    }
  }

  /** Without thresholds of its own, Grafana colors each value of 80 or more red. */
  @ParameterizedTest
  @MethodSource("dashboards")
  void noValueHasAColorThatMeansNothing(Path dashboard) throws IOException {
    for (JsonNode panel : panels(dashboard)) {
      if (Set.of("stat", "bargauge", "gauge").contains(panel.path("type").asText())) {
        JsonNode defaults = panel.path("fieldConfig").path("defaults");
        assertThat(
                defaults.path("color").path("mode").asText().equals("fixed")
                    || defaults.path("thresholds").path("steps").size() > 1)
            .as(title(panel))
            .isTrue();
      }
    }
  }

  /** Except for the panel that shows whether an operator leads. */
  @ParameterizedTest
  @MethodSource("dashboards")
  void withoutAnOperatorNoPanelShowsAZero(Path dashboard) throws IOException {
    assertThat(panels(dashboard))
        .filteredOn(panel -> !panel.path("title").asText().equals("Operator"))
        .allSatisfy(
            panel ->
                assertThat(panel.path("targets").findValuesAsText("expr"))
                    .isNotEmpty()
                    .allSatisfy(query -> assertThat(query).doesNotContain("vector(")));
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void eachVariableIsDefinedAndUsed(Path dashboard) throws IOException {
    Set<String> defined =
        new TreeSet<>(read(dashboard).path("templating").path("list").findValuesAsText("name"));

    Set<String> used =
        VARIABLE
            .matcher(Files.readString(dashboard))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toSet());

    assertThat(used).isEqualTo(defined);
  }

  private static String title(JsonNode panel) {
    return panel.path("title").asText();
  }
}
