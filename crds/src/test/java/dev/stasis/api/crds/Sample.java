package dev.stasis.api.crds;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * One file of the suite. Its first document is created; each further one replaces it, or its status
 * with {@code # subresource: status}. All but the last are valid; {@code # message: ...} is what
 * the API server says about the last.
 *
 * @param name the file
 * @param messages what the API server must say; none for a valid one
 * @param ofStatus whether the further documents are of the status
 * @param documents the documents
 */
record Sample(
    String name,
    List<String> messages,
    boolean ofStatus,
    List<GenericKubernetesResource> documents) {
  private static final Path SUITE = Path.of("src/test/resources/suite");
  private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

  static List<Sample> all(String prefix) throws IOException {
    try (Stream<Path> files = Files.list(SUITE)) {
      List<Sample> samples =
          files
              .filter(file -> file.getFileName().toString().startsWith(prefix))
              .sorted()
              .map(Sample::read)
              .toList();
      if (samples.isEmpty()) {
        throw new IllegalStateException("no files " + prefix + "* in " + SUITE.toAbsolutePath());
      }
      return samples;
    }
  }

  private static Sample read(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Sample(
        file.getFileName().toString(),
        text.lines()
            .filter(line -> line.startsWith("# message: "))
            .map(line -> line.substring("# message: ".length()))
            .toList(),
        text.contains("# subresource: status\n"),
        Arrays.stream(text.split("\n---\n"))
            .map(one -> SERIALIZATION.unmarshal(one, GenericKubernetesResource.class))
            .toList());
  }

  @Override
  public String toString() {
    return name;
  }
}
