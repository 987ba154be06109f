package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.DataPath;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathTakenTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mover | MOVER | all its requirements are met",
        "mover, low memory (memory of the node: 1 MiB) | MOVER | low memory (memory of the node: 1 MiB)",
        "mover; not direct: process 1 uses ipc | MOVER | not direct: process 1 uses ipc",
        "direct | DIRECT | all its requirements are met",
        "direct; written while the workload was frozen | DIRECT | written while the workload was frozen",
        "criu: region 1: not private | CRIU | region 1: not private",
      })
  void thePathIsReportedWithItsReason(String text, DataPath path, String reason) {
    assertThat(PathTaken.of(text)).isEqualTo(new PathTaken(path, reason));
  }
}
