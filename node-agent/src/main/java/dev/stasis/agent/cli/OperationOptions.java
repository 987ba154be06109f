package dev.stasis.agent.cli;

import dev.stasis.agent.engine.OperationControl;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of every engine operation. */
final class OperationOptions {

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      defaultValue = "30m",
      description = "Time limit; the operation is then cancelled and rolled back. Default: 30m")
  private Span deadline = new Span(Duration.ofMinutes(30));

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Number of threads that copy and hash. Default: one per core")
  private int threads = Math.max(1, Runtime.getRuntime().availableProcessors());

  @Option(
      names = "--owner",
      paramLabel = "TEXT",
      defaultValue = "${env:SUDO_USER:-${sys:user.name}}",
      description = "The requester that stasis-node frozen shows. Default: your user name")
  private String owner = "";

  int threads() {
    return threads;
  }

  String owner() {
    return owner;
  }

  /** Cancels the operation at its deadline, and when the program is asked to exit. */
  OperationControl control(Environment environment) {
    OperationControl control = OperationControl.within(environment.clock(), deadline.length());
    environment.interruption().guard(() -> control.cancel("a signal"));
    return control;
  }
}
