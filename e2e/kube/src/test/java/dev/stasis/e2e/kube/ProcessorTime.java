package dev.stasis.e2e.kube;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Processor time of a JVM since its start.
 *
 * @param total time of all threads, including those that have ended
 * @param firstCompiler time of the threads of the quick compiler (C1) that are running
 * @param secondCompiler time of the threads of the optimizing compiler (C2) that are running
 * @param collector time of the VM thread, which the serial collector uses
 */
record ProcessorTime(
    Duration total, Duration firstCompiler, Duration secondCompiler, Duration collector) {

  /** Linux reports processor time in hundredths of a second on every architecture. */
  private static final long TICK_MILLISECONDS = 10;

  /** Fields after the name in {@code /proc/PID/stat}: utime and stime are the 14th and 15th. */
  private static final int USER = 11;

  private static final int SYSTEM = 12;

  /** Returns the processor time of a process. */
  static ProcessorTime of(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    String stat = Files.readString(process.resolve("stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    long ticks = Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM]);
    List<Path> threads;
    try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
      threads = tasks.toList();
    }
    long firstCompiler = 0;
    long secondCompiler = 0;
    long collector = 0;
    for (Path thread : threads) {
      try {
        // The kernel keeps 15 characters of a name.
        String name = Files.readString(thread.resolve("comm")).strip();
        long time = Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
        firstCompiler += name.equals("C1 CompilerThre") ? time : 0;
        secondCompiler += name.equals("C2 CompilerThre") ? time : 0;
        collector += name.equals("VM Thread") ? time : 0;
      } catch (NoSuchFileException e) {
        // It has ended.
      }
    }
    return new ProcessorTime(
        Duration.ofMillis(ticks * TICK_MILLISECONDS),
        Duration.ofNanos(firstCompiler),
        Duration.ofNanos(secondCompiler),
        Duration.ofNanos(collector));
  }

  /** Returns the time since an earlier reading. */
  ProcessorTime since(ProcessorTime earlier) {
    return new ProcessorTime(
        total.minus(earlier.total),
        firstCompiler.minus(earlier.firstCompiler),
        secondCompiler.minus(earlier.secondCompiler),
        collector.minus(earlier.collector));
  }

  /** Returns the time without compilation and collection. */
  Duration own() {
    return total.minus(firstCompiler).minus(secondCompiler).minus(collector);
  }
}
