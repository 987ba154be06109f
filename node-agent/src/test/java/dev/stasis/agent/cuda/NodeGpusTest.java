package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAnswer.Done;
import dev.stasis.agent.cuda.SimulatedNode.Counter;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** NVML through the worker. */
class NodeGpusTest {

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final long MIB = 1 << 20;

  @Test
  void allPropertiesOfTheGpusAreReported() throws IOException, InterruptedException {
    try (SimulatedNode node = new SimulatedNode(2, 128, "--driver", "580.159.04");
        DriverWorker driver = node.worker()) {
      NodeGpus gpus = done(driver.gpus(DEADLINE));

      assertThat(gpus.availability())
          .isEqualTo(new DriverAvailability.Present(node.libcuda().toString(), 13000));
      assertThat(gpus.driverVersion()).isEqualTo("580.159.04");
      assertThat(gpus.cudaVersion()).isEqualTo(13000);
      assertThat(gpus.gpus()).extracting(Gpu::uuid).isEqualTo(node.gpus());
      assertThat(gpus.gpus()).extracting(Gpu::index).containsExactly(0, 1);
      assertThat(gpus.find(node.gpus().get(1))).contains(gpus.gpus().get(1));
      Gpu gpu = gpus.gpus().get(0);
      assertThat(gpu.model()).isEqualTo("NVIDIA H200");
      assertThat(gpu.memoryTotal()).isEqualTo(128 * MIB);
      assertThat(gpu.memoryFree()).isEqualTo(128 * MIB);
      assertThat(gpu.pciBusId()).matches("[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\\.0");
      assertThat(gpu.computeCapability()).isEqualTo("9.0");
      assertThat(gpu.mig()).isFalse();
      assertThat(gpu.persistence()).isTrue();
    }
  }

  @Test
  void gpusThatAreLinkedAreToldFromThoseThatAreNot() throws IOException, InterruptedException {
    try (SimulatedNode node = new SimulatedNode(3, 16, "--links", "18");
        DriverWorker driver = node.worker()) {
      assertThat(done(driver.gpus(DEADLINE)).links())
          .containsExactly(
              new GpuLink(0, 1, GpuLink.Relation.NVLINK, 18),
              new GpuLink(0, 2, GpuLink.Relation.NVLINK, 18),
              new GpuLink(1, 2, GpuLink.Relation.NVLINK, 18));
    }
    try (SimulatedNode node = new SimulatedNode(2, 16, "--links", "0");
        DriverWorker driver = node.worker()) {
      assertThat(done(driver.gpus(DEADLINE)).links())
          .containsExactly(new GpuLink(0, 1, GpuLink.Relation.NUMA_NODE));
    }
  }

  @Test
  void migIsSeen() throws IOException, InterruptedException {
    try (SimulatedNode node = new SimulatedNode(1, 16, "--mig");
        DriverWorker driver = node.worker()) {
      assertThat(done(driver.gpus(DEADLINE)).gpus()).extracting(Gpu::mig).containsExactly(true);
    }
  }

  @Test
  void theMemoryOfAProcessIsGoneFromTheGpuWhileItIsCheckpointed()
      throws IOException, InterruptedException {
    try (SimulatedNode node = new SimulatedNode(2, 128);
        DriverWorker driver = node.worker()) {
      Counter counter = node.counter("--mib", "32", "--device", "1");
      ProcessId process = counter.id();
      GpuUuid gpu = node.gpus().get(1);
      Map<GpuUuid, Long> before = done(driver.memoryOf(process, DEADLINE));
      assertThat(before).containsOnlyKeys(gpu);
      assertThat(before.get(gpu)).isGreaterThanOrEqualTo(32 * MIB);
      long free = done(driver.gpus(DEADLINE)).gpus().get(1).memoryFree();
      assertThat(free).isLessThanOrEqualTo(96 * MIB);

      driver.lock(process, DEADLINE, DEADLINE);
      driver.checkpoint(process, DEADLINE);

      assertThat(done(driver.memoryOf(process, DEADLINE))).isEmpty();
      assertThat(done(driver.gpus(DEADLINE)).gpus().get(1).memoryFree()).isEqualTo(128 * MIB);
      driver.restore(process, List.of(), DEADLINE);
      driver.unlock(process, DEADLINE);
      assertThat(done(driver.memoryOf(process, DEADLINE))).isEqualTo(before);
      counter.goesOn();
    }
  }

  @Test
  void aStoppedProcessStillTellsItsMemory() throws IOException, InterruptedException {
    try (SimulatedNode node = new SimulatedNode(1, 64);
        DriverWorker driver = node.worker()) {
      ProcessId process = node.counter("--mib", "8").id();
      SimulatedNode.signal("STOP", process.pid());

      assertThat(done(driver.memoryOf(process, DEADLINE))).hasSize(1);
    }
  }

  @Test
  void aRestoreWithoutPersistenceModeWorksToo() throws IOException, InterruptedException {
    try (SimulatedNode node = new SimulatedNode(1, 64, "--no-persistence");
        DriverWorker driver = node.worker()) {
      assertThat(done(driver.gpus(DEADLINE)).gpus())
          .extracting(Gpu::persistence)
          .containsExactly(false);
      Counter counter = node.counter("--mib", "8");
      driver.lock(counter.id(), DEADLINE, DEADLINE);
      driver.checkpoint(counter.id(), DEADLINE);

      assertThat(done(driver.restore(counter.id(), List.of(), DEADLINE)).succeeded()).isTrue();

      driver.unlock(counter.id(), DEADLINE);
      counter.goesOn();
    }
  }

  private static <T> T done(DriverAnswer<T> answer) {
    assertThat(answer).as(answer.describe()).isInstanceOf(Done.class);
    return ((Done<T>) answer).value();
  }
}
