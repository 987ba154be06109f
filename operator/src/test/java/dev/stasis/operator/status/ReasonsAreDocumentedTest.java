package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ReasonsAreDocumentedTest {

  @Test
  void everyReasonIsDocumented() throws IOException {
    String page = Files.readString(Path.of("../docs/troubleshooting.md"));
    assertThat(Arrays.stream(Reason.values()).map(Reason::value))
        .as("reasons in docs/troubleshooting.md")
        .allSatisfy(word -> assertThat(page).contains("`" + word + "`"));
  }
}
