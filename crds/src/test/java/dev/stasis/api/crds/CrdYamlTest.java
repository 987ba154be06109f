package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrdYamlTest {
  /** {@code bin/make-crds} sets it. */
  private static final boolean WRITE = Boolean.getBoolean("stasis.crds.write");

  @TempDir Path work;

  @Test
  void theCommittedYamlMatchesTheTypes() throws IOException {
    SortedMap<String, String> made = CrdYaml.make(work);
    if (WRITE) {
      CrdYaml.commit(made);
    }

    assertThat(CrdYaml.committed().keySet()).isEqualTo(made.keySet());
    made.forEach(
        (name, yaml) ->
            assertThat(committed(name))
                .as("%s differs from the Java types: run bin/make-crds and commit", name)
                .isEqualTo(yaml));
  }

  private static String committed(String name) {
    try {
      return CrdYaml.committed().getOrDefault(name, "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
