package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the pages name exists: links, manifests, values of the chart, programs, subcommands. */
class DocsTest {

  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern FENCE = Pattern.compile("(?ms)^```(\\w*)\\n(.*?)^```$");
  private static final Pattern LINK = Pattern.compile("!?\\[[^]]*]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern PROGRAM =
      Pattern.compile("(?<![\\w/.-])(?:bin|images|e2e|\\.ci)/[a-z][\\w/.-]*[a-z]");
  private static final Pattern PLUGIN = Pattern.compile("kubectl[ -]stasis ([a-z]+)");
  private static final Pattern SET = Pattern.compile("--set[ =]([\\w.]+)=");

  private final YAMLMapper yaml = new YAMLMapper();

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by JUnit
  private Path temp;

  @Test
  void everyLinkHasATarget() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      for (String link : found(LINK, FENCE.matcher(Files.readString(page)).replaceAll(""))) {
        if (!link.matches("https?:.*") && !leads(page, link)) {
          broken.add(HOME.relativize(page) + ": " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  private static boolean leads(Path page, String link) throws IOException {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
    if (!Files.exists(target)) {
      return false;
    }
    return parts.length < 2
        || found(HEADING, Files.readString(target)).stream()
            .map(DocsTest::anchor)
            .anyMatch(parts[1]::equals);
  }

  /** As GitHub makes it. */
  private static String anchor(String heading) {
    return heading.toLowerCase().replaceAll("[^\\w\\- ]", "").replace(' ', '-');
  }

  @Test
  void theApiAcceptsEveryManifest() throws IOException {
    Map<String, JsonNode> schemas = schemas();
    List<String> wrong = new ArrayList<>();
    int checked = 0;
    for (Map.Entry<String, String> block : manifests().entrySet()) {
      try (var documents = yaml.readerFor(JsonNode.class).readValues(block.getValue())) {
        while (documents.hasNext()) {
          JsonNode document = (JsonNode) documents.next();
          if (document.path("apiVersion").asText().startsWith("stasis.dev/")) {
            checked++;
            JsonNode schema = schemas.get(document.path("kind").asText());
            if (schema == null) {
              wrong.add(block.getKey() + ": no such kind: " + document.path("kind"));
            } else {
              // The schema leaves out what every object has.
              ((ObjectNode) document).remove(List.of("apiVersion", "kind", "metadata"));
              validate(schema, document, block.getKey(), wrong);
            }
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(checked).isGreaterThan(20);
  }

  private static void validate(JsonNode schema, JsonNode value, String where, List<String> wrong) {
    if (value.isObject() && schema.has("properties")) {
      schema
          .path("required")
          .forEach(
              name -> {
                if (!value.has(name.asText())) {
                  wrong.add(where + ": misses " + name.asText());
                }
              });
      value
          .fields()
          .forEachRemaining(
              field -> {
                JsonNode inner = schema.path("properties").path(field.getKey());
                String path = where + "." + field.getKey();
                if (inner.isMissingNode()) {
                  wrong.add(path + ": no such field");
                } else {
                  validate(inner, field.getValue(), path, wrong);
                }
              });
    }
    if (value.isArray()) {
      value.forEach(item -> validate(schema.path("items"), item, where, wrong));
    }
    String type = schema.path("type").asText();
    boolean fits =
        switch (type) {
          case "string" -> value.isTextual();
          case "boolean" -> value.isBoolean();
          case "integer" -> value.isIntegralNumber();
          case "array" -> value.isArray();
          case "object" -> value.isObject();
          default -> true;
        };
    if (!fits) {
      wrong.add(where + ": expected " + type + ", got " + value);
    }
    if (schema.has("enum")) {
      Set<String> words = new TreeSet<>();
      schema.path("enum").forEach(word -> words.add(word.asText()));
      if (!words.contains(value.asText())) {
        wrong.add(where + ": expected one of " + words + ", got " + value);
      }
    }
  }

  @Test
  void theChartAcceptsEveryValuesFile() throws IOException {
    List<String> rendered = new ArrayList<>();
    Map<String, String> all = new TreeMap<>();
    manifests()
        .forEach(
            (where, text) -> {
              if (text.startsWith("# values\n")) {
                all.put(where, text);
              }
            });
    try (Stream<Path> presets = Files.list(ChartFilesTest.CHART.resolve("presets"))) {
      for (Path preset : presets.toList()) {
        all.put(preset.getFileName().toString(), Files.readString(preset));
      }
    }
    for (Map.Entry<String, String> values : all.entrySet()) {
      Path file = Files.writeString(temp.resolve("values.yaml"), values.getValue());
      rendered.add(
          new Chart(ChartFilesTest.CHART)
              .render(
                  "stasis",
                  "stasis-system",
                  Map.of("image.registry", "registry.test", "crds.known", "true"),
                  List.of(file.toAbsolutePath())));
    }
    assertThat(all).containsKeys("examples/values/store-nfs.yaml", "examples/values/store-s3.yaml");
    assertThat(rendered).hasSizeGreaterThan(7).allMatch(text -> text.contains("kind: DaemonSet"));
  }

  @Test
  void everyProgramSubcommandAndValueThatIsNamedExists() throws IOException {
    Set<String> subcommands = subcommands();
    JsonNode values = yaml.readTree(ChartFilesTest.CHART.resolve("values.yaml").toFile());
    List<String> missing = new ArrayList<>();
    for (Path page : pages()) {
      String where = HOME.relativize(page) + ": ";
      for (String code : code(Files.readString(page))) {
        for (String program : found(PROGRAM, code)) {
          if (!program.contains("/target/") && !Files.exists(HOME.resolve(program))) {
            missing.add(where + program);
          }
        }
        for (String verb : found(PLUGIN, code)) {
          if (!subcommands.contains(verb)) {
            missing.add(where + "kubectl stasis " + verb);
          }
        }
        for (String value : found(SET, code)) {
          if (values.at("/" + value.replace('.', '/')).isMissingNode()) {
            missing.add(where + "--set " + value);
          }
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  private static Set<String> subcommands() throws IOException {
    Pattern name = Pattern.compile("@Command\\(\\s*name = \"([a-z]+)\"");
    Set<String> names = new TreeSet<>(Set.of("help"));
    try (Stream<Path> sources = Files.walk(HOME.resolve("kubectl-stasis/src/main/java"))) {
      for (Path source : sources.filter(it -> it.toString().endsWith(".java")).toList()) {
        names.addAll(found(name, Files.readString(source)));
      }
    }
    assertThat(names).contains("checkpoint", "doctor");
    return names;
  }

  private Map<String, JsonNode> schemas() throws IOException {
    Map<String, JsonNode> schemas = new TreeMap<>();
    try (Stream<Path> files = Files.list(ChartFilesTest.CHART.resolve("files/crds"))) {
      for (Path file : files.toList()) {
        JsonNode spec = yaml.readTree(file.toFile()).path("spec");
        schemas.put(spec.at("/names/kind").asText(), spec.at("/versions/0/schema/openAPIV3Schema"));
      }
    }
    return schemas;
  }

  private static Map<String, String> manifests() throws IOException {
    Map<String, String> all = blocks("yaml");
    try (Stream<Path> examples = Files.walk(HOME.resolve("examples"))) {
      for (Path file : examples.filter(it -> it.toString().endsWith(".yaml")).toList()) {
        all.put(HOME.relativize(file).toString(), Files.readString(file));
      }
    }
    return all;
  }

  private static Map<String, String> blocks(String language) throws IOException {
    Map<String, String> blocks = new TreeMap<>();
    for (Path page : pages()) {
      FENCE
          .matcher(Files.readString(page))
          .results()
          .filter(block -> block.group(1).equals(language))
          .forEach(
              block -> blocks.put(HOME.relativize(page) + " at " + block.start(), block.group(2)));
    }
    return blocks;
  }

  private static List<String> code(String page) {
    List<String> code = new ArrayList<>();
    FENCE.matcher(page).results().forEach(block -> code.add(block.group(2)));
    code.addAll(found(CODE, FENCE.matcher(page).replaceAll("")));
    return code;
  }

  private static List<String> found(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(found -> found.group(1 <= found.groupCount() ? 1 : 0))
        .filter(group -> group != null)
        .toList();
  }

  /** Evidence tells what was, with the names of its day. */
  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.walk(HOME.resolve("docs"));
        Stream<Path> top = Files.list(HOME)) {
      return Stream.concat(docs, top)
          .filter(page -> page.toString().endsWith(".md"))
          .filter(page -> !page.toString().contains("/evidence/"))
          .filter(page -> !page.endsWith("CHANGELOG.md"))
          .collect(Collectors.toCollection(ArrayList::new));
    }
  }
}
