package dev.stasis.agent.cuda;

import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ChildClasses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A node with simulated GPUs and counters that use them; everything goes when it is closed. */
public final class SimulatedNode implements AutoCloseable {

  /** A started counter: prints a line a step, with a sum of its device memory. */
  public record Counter(Process process, ProcessId id, Path log) {

    public long steps() {
      return lines().stream().filter(line -> line.startsWith("step ")).count();
    }

    /** Waits until it has counted on with right sums. */
    public void goesOn() {
      long wanted = steps() + 5;
      await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(20))
          .until(() -> steps() >= wanted || !process.isAlive());
      List<String> wrong =
          lines().stream().filter(line -> !line.matches("step [0-9]+ sum [0-9a-f]+ ok")).toList();
      if (!process.isAlive() || !wrong.isEmpty()) {
        throw new AssertionError("the counter: expected good steps, got " + wrong);
      }
    }

    private List<String> lines() {
      try {
        String text = Files.readString(log);
        // The last line may be half written.
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private final Path built;
  private final Path folder;
  private final List<Process> started = new ArrayList<>();
  private final List<GpuUuid> gpus = new ArrayList<>();

  public SimulatedNode(int gpus, int mebibytes, String... options)
      throws IOException, InterruptedException {
    this.built =
        Path.of(System.getProperty("stasis.sim", "../sim-gpu/target")).toAbsolutePath().normalize();
    if (!Files.exists(libcuda())) {
      throw new IllegalStateException(
          "stasis.sim: expected the simulated GPU (make -C sim-gpu), got no " + libcuda());
    }
    this.folder = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-driver-test");
    List<String> command = new ArrayList<>(List.of(built.resolve("sim-gpu-node").toString()));
    command.addAll(List.of(options));
    command.addAll(List.of(node().toString(), Integer.toString(gpus), Integer.toString(mebibytes)));
    Path table = folder.resolve("gpus");
    Process made =
        new ProcessBuilder(command)
            .redirectOutput(table.toFile())
            .redirectErrorStream(true)
            .start();
    // It makes some files; a minute only passes when it hangs.
    if (!made.waitFor(60, TimeUnit.SECONDS) || made.exitValue() != 0) {
      String why = Files.readString(table);
      close();
      throw new IllegalStateException("sim-gpu-node: " + why);
    }
    for (String line : Files.readAllLines(table)) {
      this.gpus.add(GpuUuid.parse(line.split(" ")[1]));
    }
  }

  public Path libcuda() {
    return built.resolve("libcuda.so.1");
  }

  public Path folder() {
    return folder;
  }

  public Path stateFolder() {
    return folder.resolve("state");
  }

  public List<GpuUuid> gpus() {
    return List.copyOf(gpus);
  }

  /** What makes a program use this node. */
  public Map<String, String> environment() {
    return Map.of(
        "STASIS_SIM_GPU",
        node().toString(),
        "STASIS_LIBCUDA",
        libcuda().toString(),
        "LD_LIBRARY_PATH",
        built.toString());
  }

  /** A worker for this node. Its caller closes it. */
  public DriverWorker worker() {
    return new DriverWorker(ChildClasses.worker(stateFolder()).withEnvironment(environment()));
  }

  /** Starts a counter and waits until it counts. */
  public Counter counter(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(built.resolve("gpu-counter").toString());
    command.addAll(List.of("--interval-ms", "50"));
    command.addAll(List.of(arguments));
    Path log = folder.resolve("counter" + started.size());
    Process process = start(command, log);
    ProcessId id = new ProcFs().id((int) process.pid()).orElseThrow();
    Counter counter = new Counter(process, id, log);
    counter.goesOn();
    return counter;
  }

  /** Starts a program that uses no GPU. */
  public ProcessId start(String... command) throws IOException {
    Process process = start(List.of(command), folder.resolve("program" + started.size()));
    return new ProcFs().id((int) process.pid()).orElseThrow();
  }

  private Process start(List<String> command, Path log) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment());
    Process process =
        builder
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(log.toFile())
            .redirectErrorStream(true)
            .start();
    started.add(process);
    return process;
  }

  /** The next such call of this process goes wrong in this way. */
  public void fault(String call, ProcessId process, String what) throws IOException {
    Files.writeString(node().resolve("faults").resolve(call + "." + process.pid()), what + "\n");
  }

  /** Whether a call has gone wrong so: it is inside the driver now, or was. */
  public boolean faultIsTaken(String call, ProcessId process) {
    return Files.notExists(node().resolve("faults").resolve(call + "." + process.pid()));
  }

  /** Returns whether a call with the fault {@code hold} has reached its hold. */
  public boolean isHeld(String call, ProcessId process) {
    return Files.exists(held(call, process));
  }

  /** Lets a held call continue. */
  public void release(String call, ProcessId process) throws IOException {
    Files.delete(held(call, process));
  }

  private Path held(String call, ProcessId process) {
    return node().resolve("faults").resolve(call + "." + process.pid() + ".held");
  }

  private Path node() {
    return folder.resolve("node");
  }

  /** Sends a signal, by the shell's kill. */
  public static void signal(String signal, long pid) throws IOException, InterruptedException {
    Process kill =
        new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid).inheritIO().start();
    // A shell needs milliseconds; a busy machine is given time.
    if (!kill.waitFor(60, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IllegalStateException("kill -" + signal + " " + pid + " failed");
    }
  }

  @Override
  public void close() throws IOException {
    started.forEach(Process::destroyForcibly);
    started.forEach(process -> process.onExit().join());
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
