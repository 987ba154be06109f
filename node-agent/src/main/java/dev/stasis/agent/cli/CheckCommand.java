package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Checks whether this node can checkpoint and restore GPU containers. */
@Command(
    name = "check",
    description =
        "Checks whether this node can freeze GPU containers, and what to do if it cannot.")
final class CheckCommand extends NodeCommand {

  @Mixin private final EngineOptions engine = new EngineOptions();

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description = "Also measure the disk of this store; 256 MiB are written and deleted")
  private @Nullable Path store;

  CheckCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException, InterruptedException {
    List<Finding> findings = new ArrayList<>(new NodeChecks(engine, stateDir()).run());
    try (DriverWorker worker = worker()) {
      findings.addAll(new DriverChecks(worker).run());
    }
    SpeedChecks speed = new SpeedChecks();
    findings.add(speed.memory(engine.memoryStage()));
    if (store == null) {
      findings.add(
          new Finding("disk speed", Finding.Mark.NOTE, "not measured", "give --store DIR"));
    } else {
      findings.add(speed.disk(store));
    }
    return tell(findings);
  }

  /** The answer. */
  static Report tell(List<Finding> findings) {
    Table table = new Table("CHECK", "", "FOUND");
    List<Map<String, Object>> checks = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    int bad = 0;
    for (Finding finding : findings) {
      table.row(finding.name(), finding.mark().value(), finding.found());
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("check", finding.name());
      one.put("result", finding.mark().value());
      one.put("found", finding.found());
      one.put("advice", finding.advice().isEmpty() ? null : finding.advice());
      checks.add(one);
      bad += finding.mark() == Finding.Mark.BAD ? 1 : 0;
    }
    List<String> rows = table.lines();
    lines.add(rows.get(0));
    for (int i = 0; i < findings.size(); i++) {
      lines.add(rows.get(i + 1));
      if (!findings.get(i).advice().isEmpty()) {
        lines.add("    -> " + findings.get(i).advice());
      }
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("good", bad == 0);
    json.put("checks", checks);
    List<String> errors =
        bad == 0 ? List.of() : List.of("stasis-node: this node cannot be used: " + bad + " bad");
    return new Report(bad == 0 ? ExitCode.DONE : ExitCode.FAILED, json, lines, errors);
  }

  /** Checks the CUDA driver and the GPUs. */
  record DriverChecks(CudaDriver driver) {

    List<Finding> run() {
      List<Finding> findings = new ArrayList<>();
      DriverAnswer<NodeGpus> answer = driver.gpus(CudaDriver.GPUS_DEADLINE);
      if (!(answer instanceof DriverAnswer.Done<NodeGpus> done)) {
        return List.of(
            Finding.bad("driver", answer.describe(), "see driver-worker.log in the state folder"));
      }
      NodeGpus node = done.value();
      if (!(node.availability() instanceof DriverAvailability.Present)) {
        return List.of(
            Finding.bad(
                "driver",
                node.availability().describe(),
                "install NVIDIA driver 570 or newer, or set STASIS_LIBCUDA to its library"));
      }
      String version = node.driverVersion() + ", " + node.availability().describe();
      findings.add(
          node.cudaVersion() >= CudaDriver.VERSION_WITH_MAP
              ? Finding.ok("driver", version)
              : Finding.note("driver", version, "a restore on another GPU needs driver 580"));
      for (Gpu gpu : node.gpus()) {
        String name = "GPU " + gpu.index();
        String found =
            gpu.model()
                + ", "
                + new Bytes(gpu.memoryFree())
                + " of "
                + new Bytes(gpu.memoryTotal())
                + " free";
        if (gpu.mig()) {
          findings.add(
              Finding.bad(
                  name,
                  found + ", MIG",
                  "the driver cannot checkpoint MIG instances: switch it off"));
        } else if (!gpu.persistence()) {
          findings.add(
              Finding.note(
                  name, found + ", no persistence mode", "nvidia-smi -pm 1 makes restores faster"));
        } else {
          findings.add(Finding.ok(name, found));
        }
      }
      return findings;
    }
  }

  /** Measures memory and disk throughput briefly and roughly, with one thread. */
  static final class SpeedChecks {

    private static final int PIECE = 8 << 20;

    /** Larger than every cache, and small enough to finish within a second. */
    private static final int PIECES = 32;

    private static final long BYTES = (long) PIECE * PIECES;

    /** Below these a freeze is very slow; both are a tenth of a server's throughput. */
    private static final double SLOW_COPY = 0.5;

    private static final double SLOW_DISK = 0.1;

    Finding memory(Path stage) throws IOException {
      Path folder = NodeChecks.existing(stage);
      String type = Files.getFileStore(folder).type();
      if (!type.equals("tmpfs")) {
        return Finding.note(
            "copy speed",
            stage + " is on " + type,
            "set a folder on a tmpfs of the host with --memory-stage");
      }
      return measure("copy speed", folder, false, SLOW_COPY);
    }

    Finding disk(Path store) throws IOException {
      return measure("disk speed", NodeChecks.existing(store), true, SLOW_DISK);
    }

    private static Finding measure(String name, Path folder, boolean sync, double slow)
        throws IOException {
      long free = Files.getFileStore(folder).getUsableSpace();
      if (free < 2 * BYTES) {
        return Finding.bad(
            name,
            "only " + new Bytes(free) + " free in " + folder,
            "free space: it must hold the device memory of a workload");
      }
      byte[] piece = new byte[PIECE];
      new Random(1).nextBytes(piece);
      Path file = Files.createTempFile(folder, ".stasis-check-", ".bin");
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE).put(piece);
        long begin = System.nanoTime();
        for (int i = 0; i < PIECES; i++) {
          buffer.rewind();
          while (buffer.hasRemaining()) {
            channel.write(buffer);
          }
        }
        if (sync) {
          channel.force(true);
        }
        long nanos = Math.max(1, System.nanoTime() - begin);
        String found =
            "%s in %s, %d ms for %s%s"
                .formatted(
                    new Bytes(BYTES).perSecond(nanos),
                    folder,
                    TimeUnit.NANOSECONDS.toMillis(nanos),
                    new Bytes(BYTES),
                    ", " + new Bytes(free) + " free");
        return (double) BYTES / nanos < slow
            ? Finding.note(name, found, "slow: freezes take a long time on this node")
            : Finding.ok(name, found);
      } finally {
        Files.deleteIfExists(file);
      }
    }
  }
}
