package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Caches the node's GPUs, which rarely change. */
public final class GpuRegister {

  /** A change of MIG mode, or a GPU that fell off the bus, is seen within this time. */
  private static final Duration FRESH = Duration.ofMinutes(10);

  private final CudaDriver driver;
  private final Clock clock;
  private NodeGpus known = NodeGpus.none(new DriverAvailability.NoDevice("not queried yet"));
  private Instant asked = Instant.EPOCH;

  public GpuRegister(CudaDriver driver, Clock clock) {
    this.driver = driver;
    this.clock = clock;
  }

  /** Returns the driver's state; queried again after some time, or if the last query found none. */
  public synchronized NodeGpus now() {
    Instant now = clock.instant();
    if (!known.gpus().isEmpty() && asked.plus(FRESH).isAfter(now)) {
      return known;
    }
    DriverAnswer<NodeGpus> answer = driver.gpus(CudaDriver.GPUS_DEADLINE);
    if (answer instanceof DriverAnswer.Done<NodeGpus> done) {
      known = done.value();
    } else if (answer instanceof DriverAnswer.NoDriver<NodeGpus> none) {
      known = NodeGpus.none(none.availability());
    } else if (known.gpus().isEmpty()) {
      known = NodeGpus.none(new DriverAvailability.NoDevice(answer.describe()));
    }
    asked = now;
    return known;
  }

  /** Returns only the GPUs, in the driver's order. */
  public List<Gpu> gpus() {
    return now().gpus();
  }
}
