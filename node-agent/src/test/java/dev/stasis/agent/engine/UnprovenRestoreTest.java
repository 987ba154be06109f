package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.UnprovenDriver.Missing;
import dev.stasis.agent.testing.GpuContainer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A restored workload that the driver does not prove is ended. */
class UnprovenRestoreTest {

  /** More than what the driver's own contexts may differ by from GPU to GPU. */
  private static final int MIB = 80;

  @SuppressWarnings("NullAway.Init")
  private static SavedLab saved;

  @BeforeAll
  static void save() throws InterruptedException {
    saved = SavedLab.save(MIB);
  }

  @AfterAll
  static void close() {
    saved.close();
  }

  @ParameterizedTest
  @CsvSource({
    "RUN, 'expected RUNNING, got LOCKED'",
    "MEMORY, 'bytes, got 0'",
    "ANSWER, 'cannot determine the device memory'",
  })
  void itIsNotReportedAsRestored(Missing missing, String message) throws Exception {
    NodeParts parts =
        LabParts.driver(saved.lab(), new UnprovenDriver(saved.lab().worker(), missing));
    try (GpuContainer target = saved.target()) {
      assertThat(saved.restore(parts, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.step()).isEqualTo("prove");
                assertThat(failed.reason()).isEqualTo(Reason.NOT_PROVEN);
                assertThat(failed.message()).contains(message);
              });
      saved.nothingRunsIn(target);
    }
  }

  @Test
  void aProgramThatFreesItsMemoryAtOnceIsRestored() throws Exception {
    NodeParts parts =
        LabParts.driver(saved.lab(), new UnprovenDriver(saved.lab().worker(), Missing.FREED));
    try (GpuContainer target = saved.target()) {
      assertThat(saved.restore(parts, target)).isInstanceOf(RestoreOutcome.Proven.class);
      saved.runsIn(target);
    }
  }
}
