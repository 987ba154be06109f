package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/** Workloads of a lab that have the library of the direct data path, and their keepers. */
public record DirectLab(EngineLab lab) {

  static final int MIB = 16;

  /** A counter with the library. */
  public ContainerSpec counter(String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("--mib", Integer.toString(MIB), "--interval-ms", "100"));
    arguments.addAll(List.of(more));
    return ContainerSpec.counter(lab.gpus(), arguments.toArray(String[]::new))
        .withVolume("/gate", EngineLab.gate().resolveSibling("."))
        .withEnvironment(
            Map.of(
                "LD_PRELOAD",
                "/gate/libstasis-gate.so",
                "STASIS_REAL_LIBCUDA",
                "/usr/lib/x86_64-linux-gnu/libcuda.so.1"));
  }

  /** One in which the simulated driver also sees the faults that are asked for. */
  ContainerSpec counterWithFaults() {
    return counter().withVolume("/dev/faults", lab.gpus().folder().resolve("faults"));
  }

  /**
   * The processes of this lab's keepers.
   *
   * @param mode {@code serve} of the keeper, {@code hold} of the second holder
   */
  public List<ProcessId> keepers(String mode) {
    ProcFs proc = new ProcFs();
    return proc.processes().stream()
        .filter(stat -> !stat.isZombie())
        .map(ProcessStat::id)
        .filter(id -> isKeeper(proc.cmdline(id.pid()), mode))
        .toList();
  }

  private boolean isKeeper(List<String> command, String mode) {
    return command.contains(mode)
        && command.stream().anyMatch(word -> word.startsWith(lab.state().resolve("k-").toString()))
        && !command.contains("enter");
  }

  void kill(String mode) {
    keepers(mode)
        .forEach(id -> ProcessHandle.of(id.pid()).ifPresent(ProcessHandle::destroyForcibly));
  }

  /** Waits until the keeper of a restore has loaded what the GPU has space for. */
  void awaitPrefilled() {
    Awaitility.await("the keeper has loaded it")
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("keeper of ")));
  }

  Container container(GpuContainer container) {
    return ((Resolution.Found) lab.parts().containers().resolve(container.id())).container();
  }

  /** It counts on with right numbers, and nothing of a checkpoint is left. */
  void assertUnharmed(GpuContainer container) {
    lab.assertNothingLeft();
    container.awaitSteps(3);
    container.verify(MIB);
    Awaitility.await("keepers rest or end")
        .atMost(Duration.ofSeconds(60))
        .until(() -> keepers("serve").stream().allMatch(this::rests));
  }

  /** It has no memory of a workload, and no pinned host memory. */
  private boolean rests(ProcessId keeper) {
    List<String> command = new ProcFs().cmdline(keeper.pid());
    if (!command.contains("--socket")) {
      return true; // It has ended.
    }
    Path socket = Path.of(command.get(command.indexOf("--socket") + 1));
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      channel.write(ByteBuffer.wrap("list\n".getBytes(StandardCharsets.UTF_8)));
      ByteBuffer answer = ByteBuffer.allocate(4096);
      channel.read(answer);
      String said = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
      return said.contains("arena=none") && !said.contains("pid:");
    } catch (IOException e) {
      return !keepers("serve").contains(keeper); // It has ended meanwhile.
    }
  }
}
