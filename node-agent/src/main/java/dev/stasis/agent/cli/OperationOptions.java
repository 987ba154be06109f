package dev.stasis.agent.cli;

import dev.stasis.agent.engine.OperationControl;
import java.time.Duration;
import picocli.CommandLine.Option;

/** What every operation of the engine is told. */
final class OperationOptions {

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      defaultValue = "30m",
      description = "Given up, and undone, when it has not ended by then. Default: 30m")
  private Span deadline = new Span(Duration.ofMinutes(30));

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Copying and hashing threads. Default: one a core")
  private int threads = Math.max(1, Runtime.getRuntime().availableProcessors());

  @Option(
      names = "--owner",
      paramLabel = "TEXT",
      defaultValue = "${env:SUDO_USER:-${sys:user.name}}",
      description = "For whom, as stasis-node frozen shows it. Default: your name")
  private String owner = "";

  int threads() {
    return threads;
  }

  String owner() {
    return owner;
  }

  /** Ends the operation at its deadline, and when the program is told to end. */
  OperationControl control(Environment environment) {
    OperationControl control = OperationControl.within(environment.clock(), deadline.length());
    environment.interruption().guard(() -> control.cancel("a signal"));
    return control;
  }
}
