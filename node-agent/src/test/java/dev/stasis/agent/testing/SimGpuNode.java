package dev.stasis.agent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The simulated GPUs of a test: a folder of their own on a tmpfs. */
public final class SimGpuNode implements AutoCloseable {

  private final Path build;
  private final Path folder;
  private final Sh sh = new Sh();

  private SimGpuNode(Path build, Path folder) {
    this.build = build;
    this.folder = folder;
  }

  /** GPUs that somebody else has made and takes away again. */
  public static SimGpuNode at(Path folder) {
    return new SimGpuNode(build().normalize(), folder);
  }

  private static Path build() {
    Path build = Path.of(System.getProperty("stasis.sim", "../sim-gpu/target")).toAbsolutePath();
    if (!Files.isExecutable(build.resolve("gpu-counter"))) {
      throw new IllegalStateException(
          "simulated GPU: expected " + build + "/gpu-counter, got none; run make -C sim-gpu");
    }
    return build;
  }

  /** Makes GPUs of {@code mib} MiB each; {@code options} are those of {@code sim-gpu-node}. */
  public static SimGpuNode make(int gpus, int mib, String... options) {
    Path build = build();
    try {
      Path folder = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-sim");
      SimGpuNode node = new SimGpuNode(build.normalize(), folder);
      List<String> command =
          new ArrayList<>(
              List.of(
                  build.resolve("../bin/sim-gpu-node").normalize().toString(),
                  folder.toString(),
                  Integer.toString(gpus),
                  Integer.toString(mib)));
      command.addAll(List.of(options));
      node.sh.must(command.toArray(String[]::new));
      return node;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The folder that stands for the node's GPUs. */
  public Path folder() {
    return folder;
  }

  /** The simulated driver library. */
  public Path libcuda() {
    return build.resolve("libcuda.so.1");
  }

  /** The stand-in for NCCL. */
  public Path libnccl() {
    return build.resolve("libnccl.so.2");
  }

  /** The simulated libnvidia-ml. */
  public Path libnvml() {
    return build.resolve("libnvidia-ml.so.1");
  }

  /** The workload. */
  public Path counter() {
    return build.resolve("gpu-counter");
  }

  /** The next call of that name does {@code what}. */
  public void fault(String call, String what) {
    try {
      Files.writeString(folder.resolve("faults").resolve(call), what);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It does it no more, also where it was to do it always. */
  public void mend(String call) {
    try {
      Files.deleteIfExists(folder.resolve("faults").resolve(call));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns whether a call with the fault {@code hold} has reached its hold. */
  public boolean isHeld(String call) {
    return Files.exists(folder.resolve("faults").resolve(call + ".held"));
  }

  /** Lets a held call continue. */
  public void release(String call) {
    mend(call + ".held");
  }

  @Override
  public void close() {
    sh.run("rm", "-rf", folder.toString());
  }
}
