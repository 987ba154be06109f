package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Copies of an artifact, to be changed.
 *
 * @param original its folder
 */
record ArtifactCopies(Path original) {

  Path copied() throws IOException {
    Path copy = original.resolveSibling("copy-" + UUID.randomUUID());
    try (Stream<Path> all = Files.walk(original)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Files.copy(
            path,
            copy.resolve(original.relativize(path).toString()),
            StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return copy;
  }

  /** Those at the top, and of each folder the first and the last. */
  List<String> samples() throws IOException {
    List<String> all = filesOf(original);
    TreeMap<String, TreeSet<String>> byFolder = new TreeMap<>();
    TreeSet<String> samples = new TreeSet<>();
    for (String name : all) {
      int slash = name.lastIndexOf('/');
      if (slash < 0) {
        samples.add(name);
      } else {
        byFolder.computeIfAbsent(name.substring(0, slash), folder -> new TreeSet<>()).add(name);
      }
    }
    byFolder.values().forEach(names -> samples.addAll(List.of(names.first(), names.last())));
    assertThat(samples).contains("manifest.json", "pod.json", "workload.json");
    return List.copyOf(samples);
  }

  static List<String> filesOf(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
          .map(path -> folder.relativize(path).toString())
          .sorted()
          .toList();
    }
  }

  /** With a digest that is right for what it says now, as whoever forges one would write it. */
  static void reseal(Path copy, UnaryOperator<String> change) throws Exception {
    Path manifest = copy.resolve(Manifest.FILE_NAME);
    String before = Files.readString(manifest);
    String after = change.apply(before);
    assertThat(after).isNotEqualTo(before);
    Files.writeString(manifest, after);
    byte[] digest =
        MessageDigest.getInstance("SHA-256").digest(after.getBytes(StandardCharsets.UTF_8));
    Files.writeString(
        copy.resolve(Manifest.DIGEST_FILE_NAME),
        HexFormat.of().formatHex(digest) + "  " + Manifest.FILE_NAME + "\n");
  }
}
