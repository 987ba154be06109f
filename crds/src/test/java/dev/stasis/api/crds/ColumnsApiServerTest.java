package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.testing.OnTestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code kubectl get} prints: kubectl aligns the table that the API server makes. */
@OnTestCluster
class ColumnsApiServerTest {

  /** Characters of a line of a terminal. */
  private static final int LINE = 120;

  private static final Path FOLDER = Path.of("src/test/resources/columns");

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static ApiServer server;

  @BeforeAll
  static void connect() {
    server = ApiServer.fromEnvironment();
  }

  @AfterAll
  @SuppressWarnings("NullAway") // there is none when connect() was aborted
  static void disconnect() {
    if (server != null) {
      server.close();
    }
  }

  /** Files with typical objects; each begins with what is printed of them, as comments. */
  static Stream<String> files() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void typicalObjectsFitOnALineWithTheirMostImportantFields(String file) throws Exception {
    String text = Files.readString(FOLDER.resolve(file));
    List<GenericKubernetesResource> objects =
        Arrays.stream(text.split("\n---\n"))
            .map(
                one ->
                    server
                        .client()
                        .getKubernetesSerialization()
                        .unmarshal(one, GenericKubernetesResource.class))
            .toList();
    try {
      objects.forEach(ColumnsApiServerTest::create);

      String printed = print(objects);

      assertThat(printed).isEqualTo(comments(text));
      assertThat(printed.lines()).allMatch(line -> line.length() <= LINE);
    } finally {
      objects.forEach(object -> server.handle(object).delete());
    }
  }

  private static void create(GenericKubernetesResource object) {
    Object status = object.getAdditionalProperties().get("status");
    GenericKubernetesResource created = server.handle(object).create();
    created.setAdditionalProperty("status", status);
    server.handle(created).updateStatus();
  }

  private static String comments(String text) {
    return String.join(
        "\n",
        text.lines()
            .takeWhile(line -> line.startsWith("#"))
            .map(line -> line.substring(2))
            .toList());
  }

  /** Prints them as kubectl does without -o wide. */
  private static String print(List<GenericKubernetesResource> objects) throws Exception {
    List<List<String>> rows = new ArrayList<>();
    for (GenericKubernetesResource object : objects) {
      JsonNode table = server.table(object);
      List<String> header = new ArrayList<>();
      List<String> row = new ArrayList<>();
      for (int i = 0; i < table.get("columnDefinitions").size(); i++) {
        JsonNode column = table.get("columnDefinitions").get(i);
        if (column.get("priority").asInt() == 0) {
          header.add(column.get("name").asText().toUpperCase(Locale.ROOT));
          JsonNode cell = table.get("rows").get(0).get("cells").get(i);
          // The time since then, which differs in each run.
          boolean isAge = column.get("type").asText().equals("date") && !cell.isNull();
          row.add(isAge ? "5m" : cell.isNull() ? "" : cell.asText());
        }
      }
      if (rows.isEmpty()) {
        rows.add(header);
      }
      rows.add(row);
    }
    return align(rows);
  }

  private static String align(List<List<String>> rows) {
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(each -> each.get(column).length()).max().orElse(0);
        line.append(row.get(i)).append(" ".repeat(width - row.get(i).length() + 3));
      }
      lines.add(line.toString().stripTrailing());
    }
    return String.join("\n", lines);
  }
}
