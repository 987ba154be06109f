package dev.stasis.kubectl.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The plugin reads fields by their names, which no compiler checks. */
class PathsTest {

  private static final Path SOURCES = Path.of("src/main/java");
  private static final Path DEFINITIONS = Path.of("../crds/src/main/resources/crds");
  private static final Pattern FIELD = Pattern.compile("\"((?:spec|status)\\.[a-zA-Z.]+)\"");

  /** Of kinds that are not ours. */
  private static final Set<String> FOREIGN =
      Set.of(
          "spec.containers",
          "spec.nodeName",
          "spec.replicas",
          "spec.template.spec.affinity",
          "status.containerStatuses",
          "status.readyReplicas");

  @Test
  void everyFieldThatIsReadIsInADefinition() throws IOException {
    List<JsonNode> schemas = schemas();
    Set<String> unknown = new TreeSet<>();
    for (String field : fields()) {
      if (!FOREIGN.contains(field) && schemas.stream().noneMatch(schema -> has(schema, field))) {
        unknown.add(field);
      }
    }
    assertThat(unknown).isEmpty();
  }

  private static boolean has(JsonNode schema, String field) {
    JsonNode here = schema;
    for (String name : field.split("\\.")) {
      here = here.path("properties").path(name);
    }
    return !here.isMissingNode();
  }

  private static List<JsonNode> schemas() throws IOException {
    List<JsonNode> schemas = new ArrayList<>();
    for (Path file : files(DEFINITIONS, ".yaml")) {
      JsonNode definition = new YAMLMapper().readTree(Files.readString(file));
      schemas.add(
          definition.path("spec").path("versions").path(0).path("schema").path("openAPIV3Schema"));
    }
    return schemas;
  }

  private static Set<String> fields() throws IOException {
    Set<String> fields = new TreeSet<>();
    for (Path file : files(SOURCES, ".java")) {
      Matcher matcher = FIELD.matcher(Files.readString(file));
      while (matcher.find()) {
        fields.add(matcher.group(1));
      }
    }
    return fields;
  }

  private static List<Path> files(Path folder, String ending) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(ending)).toList();
    }
  }
}
