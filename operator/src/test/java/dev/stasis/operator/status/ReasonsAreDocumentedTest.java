package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReasonsAreDocumentedTest {

  @Test
  void everyReasonIsDocumented() throws IOException {
    String page = Files.readString(Path.of("../docs/troubleshooting.md"));
    assertThat(Arrays.stream(Reason.values()).map(Reason::value))
        .as("reasons in docs/troubleshooting.md")
        .allSatisfy(word -> assertThat(page).contains("`" + word + "`"));
  }

  /** A user who sees the short form in {@code kubectl get} finds the reason. */
  @Test
  void everyShortFormLeadsToItsReasons() throws IOException {
    List<String> rows = Files.readAllLines(Path.of("../docs/troubleshooting.md"));
    assertThat(Reason.values())
        .filteredOn(reason -> !reason.column().equals(reason.value()))
        .hasSizeGreaterThan(40)
        .allSatisfy(
            reason ->
                assertThat(rows)
                    .as(reason.column())
                    .anyMatch(
                        row ->
                            row.startsWith("| `" + reason.column() + "` |")
                                && row.contains("`" + reason.value() + "`")));
  }
}
