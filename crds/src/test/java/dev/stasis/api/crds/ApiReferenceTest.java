package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ApiReferenceTest {

  private static final Path PAGE = Path.of("../docs/api-reference.md");

  /** {@code bin/make-crds} sets it. */
  private static final boolean WRITE = Boolean.getBoolean("stasis.crds.write");

  @Test
  void theApiPageMatchesTheDefinitions() throws IOException {
    String page = ApiReference.of(CrdYaml.committed());
    if (WRITE) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE))
        .as("docs/api-reference.md differs from the definitions: run bin/make-crds and commit")
        .isEqualTo(page);
  }
}
