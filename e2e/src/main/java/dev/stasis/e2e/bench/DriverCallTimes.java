package dev.stasis.e2e.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.Arrays;

/** Measures the duration of calls through the resident driver worker, as the engine sees them. */
final class DriverCallTimes {

  /** A hundred times the duration of a call on a running process. */
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final CudaDriver driver;
  private final ProcFs proc;

  DriverCallTimes(CudaDriver driver, ProcFs proc) {
    this.driver = driver;
    this.proc = proc;
  }

  /** Calls GetState repeatedly; the first tenth is warm-up and does not count. */
  void state(int pid, int calls, ObjectNode answer) {
    ProcessId process =
        proc.id(pid)
            .orElseThrow(() -> new IllegalArgumentException("pid: expected a process, got " + pid));
    double[] millis = new double[calls];
    for (int i = -calls / 10; i < calls; i++) {
      long begin = System.nanoTime();
      DriverAnswer<?> said = driver.state(process, DEADLINE);
      double took = (System.nanoTime() - begin) / 1e6;
      if (!(said instanceof DriverAnswer.Done)) {
        throw new IllegalStateException(said.describe());
      }
      if (i >= 0) {
        millis[i] = took;
      }
    }
    Arrays.sort(millis);
    answer.put("outcome", "Done").put("calls", calls);
    answer.put("median", millis[calls / 2]).put("p99", millis[(int) (calls * 0.99)]);
    answer.put("least", millis[0]).put("most", millis[calls - 1]);
  }

  void gpus(ObjectNode answer) {
    DriverAnswer<NodeGpus> said = driver.gpus(Duration.ofSeconds(30));
    if (!(said instanceof DriverAnswer.Done<NodeGpus> done)) {
      throw new IllegalStateException(said.describe());
    }
    answer.put("outcome", "Done").put("driver", done.value().driverVersion());
    answer.put("cuda", done.value().cudaVersion());
    ArrayNode models = answer.putArray("gpus");
    for (Gpu gpu : done.value().gpus()) {
      models.add(gpu.model());
    }
  }
}
