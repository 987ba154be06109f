package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What bin/release puts together, without images. */
class ReleaseFilesTest {

  private static final String VERSION = "0.1.0-SNAPSHOT";

  private final ObjectMapper json = new ObjectMapper();

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by JUnit
  private Path temp;

  private Path release(String name) throws IOException, InterruptedException {
    Path plugin = Files.writeString(temp.resolve("plugin"), "#!/bin/sh\n");
    Path windows = Files.writeString(temp.resolve("plugin.zip"), "for Windows");
    Path out = temp.resolve(name);
    run(
        Path.of("../bin/release").toRealPath().toString(),
        "--out",
        out.toString(),
        "--without-images",
        "--without-sbom",
        "--plugin",
        plugin.toString(),
        windows.toString(),
        "--url",
        "https://files.test",
        VERSION);
    return out;
  }

  private byte[] run(String... command) throws IOException, InterruptedException {
    Path errors = temp.resolve("errors");
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    process.getInputStream().transferTo(output);
    // It packs some hundred small files; two busy cores need seconds.
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
    return output.toByteArray();
  }

  private static String sha256(byte[] content) throws NoSuchAlgorithmException {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
  }

  @Test
  void theSameCommitGivesTheSameBytes() throws Exception {
    Path first = release("first");
    Path second = release("second");

    assertThat(first.resolve("SHA256SUMS")).hasSameBinaryContentAs(second.resolve("SHA256SUMS"));
    List<String> sums = Files.readAllLines(first.resolve("SHA256SUMS"));
    try (Stream<Path> files = Files.walk(first)) {
      assertThat(sums).hasSize((int) files.filter(Files::isRegularFile).count() - 1);
    }
    for (String sum : sums) {
      String[] parts = sum.split("  ", 2);
      assertThat(sha256(Files.readAllBytes(first.resolve(parts[1])))).isEqualTo(parts[0]);
    }
  }

  @Test
  void theProvenanceNamesTheCommitAndEveryOtherFile() throws Exception {
    Path release = release("provenance");
    JsonNode statement = json.readTree(release.resolve("provenance.json").toFile());
    List<String> sums = new ArrayList<>();
    statement
        .path("subject")
        .forEach(
            subject ->
                sums.add(
                    subject.path("digest").path("sha256").asText()
                        + "  "
                        + subject.path("name").asText()));

    assertThat(Files.readAllLines(release.resolve("SHA256SUMS")))
        .containsAll(sums)
        .hasSize(sums.size() + 1);
    assertThat(
            statement
                .at("/predicate/buildDefinition/resolvedDependencies/0/digest/gitCommit")
                .asText())
        .isEqualTo(
            new String(run("git", "-C", "..", "rev-parse", "HEAD"), StandardCharsets.UTF_8)
                .strip());
  }

  /** What a registry would refuse, or helm would not find. */
  @Test
  void theChartIsAnOciArtifactThatLeadsToThePackage() throws Exception {
    Path out = release("out");
    String tar = out.resolve("images/stasis.tar").toString();

    JsonNode index = json.readTree(run("tar", "-xOf", tar, "index.json"));
    JsonNode entry = index.at("/manifests/0");
    assertThat(entry.at("/annotations/io.containerd.image.name").asText()).endsWith(":" + VERSION);
    byte[] manifest = blob(tar, entry);
    JsonNode described = json.readTree(manifest);
    assertThat(described.at("/config/mediaType").asText())
        .isEqualTo("application/vnd.cncf.helm.config.v1+json");
    assertThat(json.readTree(blob(tar, described.path("config"))).path("version").asText())
        .isEqualTo(VERSION);
    assertThat(blob(tar, described.at("/layers/0")))
        .isEqualTo(Files.readAllBytes(out.resolve("stasis-" + VERSION + ".tgz")));
  }

  private byte[] blob(String tar, JsonNode described) throws Exception {
    String digest = described.path("digest").asText();
    byte[] content = run("tar", "-xOf", tar, "blobs/" + digest.replace(':', '/'));
    assertThat("sha256:" + sha256(content)).isEqualTo(digest);
    assertThat(content).hasSize(described.path("size").asInt());
    return content;
  }

  @Test
  void thePackageHasTheWholeChart() throws Exception {
    Path out = release("out");

    String names =
        new String(
            run("tar", "-tzf", out.resolve("stasis-" + VERSION + ".tgz").toString()),
            StandardCharsets.UTF_8);
    try (Stream<Path> files = Files.walk(ChartFilesTest.CHART)) {
      assertThat(names.lines())
          .containsExactlyInAnyOrderElementsOf(
              files
                  .filter(Files::isRegularFile)
                  .filter(file -> !file.endsWith(".helmignore"))
                  .map(file -> "stasis/" + ChartFilesTest.CHART.relativize(file))
                  .toList());
    }
  }

  @Test
  void krewGetsTheDigestOfTheArchive() throws Exception {
    Path out = release("out");
    String archive = "kubectl-stasis-" + VERSION + ".tar.gz";

    JsonNode krew = new YAMLMapper().readTree(out.resolve("stasis.yaml").toFile());

    assertThat(krew.at("/spec/platforms").findValuesAsText("os"))
        .containsExactly("linux", "linux", "darwin", "darwin");
    for (JsonNode platform : krew.at("/spec/platforms")) {
      assertThat(platform.path("sha256").asText())
          .isEqualTo(sha256(Files.readAllBytes(out.resolve(archive))));
      assertThat(platform.path("uri").asText()).isEqualTo("https://files.test/" + archive);
    }
    assertThat(run("tar", "-xzOf", out.resolve(archive).toString(), "kubectl-stasis"))
        .isEqualTo("#!/bin/sh\n".getBytes(StandardCharsets.UTF_8));
    assertThat(out.resolve("kubectl-stasis-" + VERSION + "-windows.zip"))
        .content()
        .isEqualTo("for Windows");
  }
}
