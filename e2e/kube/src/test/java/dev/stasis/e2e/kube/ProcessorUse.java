package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Processor time of each program that a benchmark needs, to see which one limits it.
 *
 * @param operator time of the operator
 * @param apiServer time of the API server, by its metric {@code process_cpu_seconds_total}
 * @param agents time of this process: the simulated agents, and the requests of the benchmark
 * @param machine time of everything on this machine; it includes etcd and unrelated programs
 */
record ProcessorUse(ProcessorTime operator, Duration apiServer, Duration agents, Duration machine) {

  /** Linux reports processor time in hundredths of a second on every architecture. */
  private static final long TICK_MILLISECONDS = 10;

  /** The columns of {@code /proc/stat} after the name: idle and iowait are the fourth and fifth. */
  private static final int IDLE = 4;

  private static final int WAITING = 5;

  /** The columns after steal repeat the time of guests, which user and nice contain. */
  private static final int STEAL = 8;

  /** Returns the processor time since the start of each. */
  static ProcessorUse of(KubernetesClient admin, long operator) throws IOException {
    return new ProcessorUse(
        ProcessorTime.of(operator),
        ofApiServer(admin.raw("/metrics")),
        ProcessHandle.current().info().totalCpuDuration().orElseThrow(),
        ofMachine());
  }

  private static Duration ofApiServer(String metrics) {
    String seconds =
        metrics
            .lines()
            .filter(line -> line.startsWith("process_cpu_seconds_total "))
            .map(line -> line.split(" ")[1])
            .findFirst()
            .orElseThrow();
    return Duration.ofMillis(Math.round(Double.parseDouble(seconds) * 1000));
  }

  private static Duration ofMachine() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/stat"))) {
      String[] columns = lines.findFirst().orElseThrow().split("\\s+");
      long ticks = Arrays.stream(columns, 1, STEAL + 1).mapToLong(Long::parseLong).sum();
      ticks -= Long.parseLong(columns[IDLE]) + Long.parseLong(columns[WAITING]);
      return Duration.ofMillis(ticks * TICK_MILLISECONDS);
    }
  }

  /** Returns the time since an earlier reading. */
  ProcessorUse since(ProcessorUse earlier) {
    return new ProcessorUse(
        operator.since(earlier.operator),
        apiServer.minus(earlier.apiServer),
        agents.minus(earlier.agents),
        machine.minus(earlier.machine));
  }

  /** Returns the time of all other programs; etcd is one of them. */
  Duration others() {
    return machine.minus(operator.total()).minus(apiServer).minus(agents);
  }
}
