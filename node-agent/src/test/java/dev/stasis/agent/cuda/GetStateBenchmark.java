package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * How long GetState takes through the resident worker, and with a worker of its own for each call.
 * Not a test. With a pid as its argument it asks about that process, by the driver that the
 * environment names; without one it makes a simulated GPU and a counter.
 */
final class GetStateBenchmark {

  private static final int RESIDENT = 500;
  private static final int SPAWNED = 9;

  /** Far more than either way needs. */
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private GetStateBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) {
      ProcessId process = new ProcFs().id(Integer.parseInt(arguments[0])).orElseThrow();
      Path state = Files.createTempDirectory("stasis-benchmark");
      report(WorkerSettings.here(state), process);
      try (Stream<Path> files = Files.walk(state)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
      return;
    }
    try (SimulatedNode node = new SimulatedNode(1, 64)) {
      WorkerSettings settings =
          WorkerSettings.here(node.stateFolder()).withEnvironment(node.environment());
      for (String threads : List.of("1", "16")) {
        ProcessId process = node.counter("--mib", "4", "--threads", threads).id();
        report(settings, process);
      }
    }
  }

  private static void report(WorkerSettings settings, ProcessId process) {
    long[] resident = new long[RESIDENT];
    long[] driver = new long[RESIDENT];
    try (DriverWorker worker = new DriverWorker(settings)) {
      for (int i = -RESIDENT; i < RESIDENT; i++) {
        long begin = System.nanoTime();
        CudaCall call = call(worker, process);
        resident[Math.max(i, 0)] = System.nanoTime() - begin;
        driver[Math.max(i, 0)] = call.took().toNanos();
      }
    }
    long[] spawned = new long[SPAWNED];
    for (int i = 0; i < SPAWNED; i++) {
      long begin = System.nanoTime();
      try (DriverWorker worker = new DriverWorker(settings)) {
        call(worker, process);
        spawned[i] = System.nanoTime() - begin;
      }
    }
    System.out.printf(
        "process with %d threads: resident worker %.3f ms (the driver's part %.3f ms), a worker a call %.1f ms%n",
        new ProcFs().threads(process.pid()).size(),
        median(resident) / 1e6,
        median(driver) / 1e6,
        median(spawned) / 1e6);
  }

  private static CudaCall call(DriverWorker worker, ProcessId process) {
    DriverAnswer<CudaCall> answer = worker.state(process, DEADLINE);
    if (answer instanceof DriverAnswer.Done<CudaCall> done) {
      return done.value();
    }
    throw new IllegalStateException(answer.describe());
  }

  private static double median(long[] nanos) {
    Arrays.sort(nanos);
    return nanos[nanos.length / 2];
  }
}
