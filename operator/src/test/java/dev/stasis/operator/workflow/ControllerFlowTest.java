package dev.stasis.operator.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.operator.checkpoint.CheckpointParts;
import dev.stasis.operator.migration.MigrationParts;
import dev.stasis.operator.restore.RestoreParts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** {@code docs/design/controller-flow.md} is made from the steps. */
class ControllerFlowTest {

  private static final Path PAGE = Path.of("../docs/design/controller-flow.md");

  /** Writes the page; its diff is then to be read. */
  private static final boolean WRITE = Boolean.getBoolean("stasis.golden.write");

  private static final String HEAD =
      """
      # Controller flow

      How the operator runs a request. `ControllerFlowTest` generates this page from the code
      (`-Dtest.argLine=-Dstasis.golden.write=true`).

      A request is a list of steps. In each reconciliation the operator observes the request, runs
      the first step that is not complete, and writes the status once if it changed. The write fails
      if the object has changed since it was observed; then the request is observed again. A request
      that fails, is cancelled or is deleted undoes its steps in reverse order. An operator that is
      restarted continues from what it observes.

      A waiting step is observed again when an object that it depends on changes, at the latest
      after `lookAgainEvery` (15 s), which costs no request. A GpuCheckpoint that waits for its agent
      is observed again when the agent begins, at the latest when it would count as silent (3 min). A
      step that the API server refuses is retried after waits that double from `lookAgainEvery` to the
      longest retry wait.

      The deletion of a GpuCheckpoint undoes a running step, resumes a suspended workload, lowers
      the memory limit and then deletes the artifact. Its steps report themselves in the status.

      A GpuMigration that fails, is cancelled or exceeds its deadline before `commit` first records
      that it is rolled back, then undoes its steps and deletes the artifacts. After `commit` it
      only continues. While it is Pending its waits double up to 5 min, and a deadline ends each
      wait.

      """;

  @Test
  void thePageDescribesTheStepsAsTheyAre() throws IOException {
    String page =
        HEAD
            + String.join("\n", CheckpointParts.flow(), RestoreParts.flow(), MigrationParts.flow());
    if (WRITE) {
      Files.writeString(PAGE, page);
    }

    assertThat(PAGE).hasContent(page);
  }
}
