package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/**
 * Simulated GPUs of a node of this machine, brought into pods as NVIDIA's device plugin and
 * container toolkit would: the plugin names the GPUs, a CDI specification says what a container
 * that gets one sees.
 */
final class SimulatedNode implements AutoCloseable {

  private static final String KIND = "stasis.test/gpu";

  /** Where a container's loader finds the driver's libraries. */
  static final String LIBRARIES = "/usr/lib/x86_64-linux-gnu";

  /** Tries, of twenty seconds each. */
  private static final int GIVEN_WITHIN = 6;

  private final LocalNode node;
  private final Path build;
  private final Path folder;
  private final Shell shell = new Shell();
  private final List<String> whole = new ArrayList<>();

  private SimulatedNode(LocalNode node, Path build, Path folder) {
    this.node = node;
    this.build = build;
    this.folder = folder;
  }

  /** Makes GPUs of {@code mib} MiB each and gives them to the node. */
  static SimulatedNode make(LocalNode node, Checkout checkout, int gpus, int mib) {
    Path build = checkout.built("sim-gpu/target", "make -C sim-gpu");
    try {
      // A tmpfs, so that device memory is memory.
      Path folder = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-e2e-" + node.name());
      SimulatedNode made = new SimulatedNode(node, build, folder);
      made.provide(gpus, mib);
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void provide(int gpus, int mib) throws IOException {
    String said =
        shell.must(
            build.resolve("sim-gpu-node").toString(),
            folder.toString(),
            Integer.toString(gpus),
            Integer.toString(mib));
    List<String> devices = new ArrayList<>();
    for (String line : said.lines().toList()) {
      String uuid = line.split(" ")[1];
      int index = whole.size();
      devices.add(
          """
          {"name": "%d", "containerEdits": {"mounts": [%s]}}"""
              .formatted(index, mount(folder.resolve("nvidia" + index), "/dev/nvidia" + index)));
      whole.add("%s=%s=%d".formatted(uuid, KIND, index));
    }
    Files.writeString(
        node.cdi().resolve("stasis-test.json"),
        """
        {"cdiVersion": "0.6.0", "kind": "%s", "devices": [%s],
         "containerEdits": {"mounts": [%s, %s]}}
        """
            .formatted(
                KIND,
                String.join(",", devices),
                mount(folder.resolve("nvidiactl"), "/dev/nvidiactl"),
                mount(build.resolve("libcuda.so.1"), LIBRARIES + "/libcuda.so.1")));
    whole();
  }

  /** Each GPU for one container, as always. */
  void whole() {
    give(whole);
  }

  /** Nothing but the first GPU, for that many containers: as a device plugin shares one. */
  void shared(int replicas) {
    String[] first = whole.get(0).split("=", 2);
    give(
        IntStream.range(0, replicas)
            .mapToObj(replica -> "%s::%d=%s".formatted(first[0], replica, first[1]))
            .toList());
  }

  private void give(List<String> devices) {
    List<String> command = new ArrayList<>(List.of(node.kube(), "gpus", node.name()));
    command.addAll(devices);
    // It waits until the node shows them, not for as long as a busy kubelet may need.
    Shell.Result given = shell.run(command.toArray(String[]::new));
    for (int tries = 1; tries < GIVEN_WITHIN && !given.ok(); tries++) {
      given = shell.run(command.toArray(String[]::new));
    }
    if (!given.ok()) {
      throw new AssertionError("GPUs of node " + node.name() + ": " + given.output());
    }
  }

  private static String mount(Path source, String target) {
    String access = target.startsWith("/dev/") ? "rw" : "ro";
    return """
    {"hostPath": "%s", "containerPath": "%s", "options": ["bind", "%s", "nosuid"]}"""
        .formatted(source, target, access);
  }

  /** The folder that stands for the GPUs. */
  Path folder() {
    return folder;
  }

  /** The folder with the simulated libraries. */
  Path libraries() {
    return build;
  }

  /** The next call of that name does {@code what}. */
  void fault(String call, String what) {
    try {
      Files.writeString(folder.resolve("faults").resolve(call), what);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until a call of that name is held by the fault {@code hold}. */
  void awaitHeld(String call) {
    Awaitility.await("call " + call + " is held")
        .atMost(Scenario.PATIENCE)
        .until(() -> Files.exists(held(call)));
  }

  /** Lets a call that is held continue. */
  void release(String call) throws IOException {
    Files.delete(held(call));
  }

  private Path held(String call) {
    return folder.resolve("faults").resolve(call + ".held");
  }

  /**
   * Kills the keepers of this node's agent, and waits until they have ended.
   *
   * @param mode {@code serve} of the keeper, {@code hold} of the second holder
   */
  void killKeepers(String mode) throws IOException {
    List<ProcessHandle> keepers = new ArrayList<>();
    for (ProcessHandle each : ProcessHandle.allProcesses().toList()) {
      Path process = Path.of("/proc", Long.toString(each.pid()));
      try {
        List<String> command = List.of(Files.readString(process.resolve("cmdline")).split("\0"));
        if (command.size() > 2
            && command.get(1).equals(mode)
            && Files.readString(process.resolve("environ"))
                .contains("STASIS_SIM_GPU=" + folder + "\0")) {
          keepers.add(each);
        }
      } catch (IOException gone) {
        // It ended while the list was read.
      }
    }
    if (keepers.isEmpty()) {
      throw new AssertionError("stasis-keeper " + mode + ": expected one, got none");
    }
    for (ProcessHandle keeper : keepers) {
      CompletableFuture<ProcessHandle> end = keeper.onExit();
      keeper.destroyForcibly();
      end.join();
    }
  }

  void clearFaults() {
    shell.must("sh", "-c", "rm -f \"$1\"/*", "sh", folder.resolve("faults").toString());
  }

  @Override
  public void close() {
    shell.run("rm", "-rf", folder.toString());
  }
}
