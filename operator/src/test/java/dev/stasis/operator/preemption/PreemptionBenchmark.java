package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * How long a policy takes to decide: {@code bin/bench preemption}. All that a look does is measured
 * but what it asks of the API server; the pods are in memory, as in the operator's caches. Before
 * the pod for which there are victims come {@code -Dbench.waiting=200} for which there are none.
 */
class PreemptionBenchmark {

  private static final int PODS = Integer.getInteger("bench.pods", 1000);
  private static final int WAITING = Integer.getInteger("bench.waiting", 200);
  private static final int GPUS = 8;
  private static final int LOOKS = 300;

  /** Until the code is compiled. */
  private static final int WARM = 100;

  @Test
  void decides() {
    PreemptionFixture world = new PreemptionFixture();
    int nodes = PODS / GPUS;
    for (int node = 0; node < nodes; node++) {
      world.node("node-" + node, GPUS);
    }
    for (int pod = 0; pod < PODS; pod++) {
      // None of them is cheap: every node is weighed to its end.
      world.running("pod-" + pod, "node-" + pod % nodes, 10 + pod % 80);
    }
    GpuPreemptionPolicy policy =
        world.policy("p", 100, 500, spec -> spec.getOptions().setBudgetPerHour(10_000));
    for (int pod = 0; pod < WAITING; pod++) {
      // No node has so many GPUs; each of them is another case, of one of four priorities.
      world.waiting("hopeless-" + pod, 2000 + pod % 4, GPUS + 1 + pod);
    }
    // Time of the processor: other programs of the machine do not count.
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    List<Duration> took = new ArrayList<>();
    for (int look = 0; look < WARM + LOOKS; look++) {
      world.waiting("urgent", 1000);
      long begin = threads.getCurrentThreadCpuTime();
      world.look();
      took.add(Duration.ofNanos(threads.getCurrentThreadCpuTime() - begin));
      assertThat(world.writes.checkpointed).hasSize(look + 1);
      world.ends("urgent");
      world.cluster.checkpoints.clear();
      world.cluster.restores.clear();
      // What it had made was never seen: it waits for that.
      world.now = world.now.plusSeconds(11);
    }
    List<Duration> sorted = took.subList(WARM, took.size()).stream().sorted().toList();
    assertThat(policy.getStatus().getCandidates()).isEqualTo(PODS);
    System.out.printf(
        Locale.ROOT,
        "preemption: %d candidates on %d nodes, %d waiting, %d decisions: processor time p50 %.1f ms, p99 %.1f ms, max %.1f ms%n",
        PODS,
        nodes,
        WAITING,
        LOOKS,
        millis(sorted.get(LOOKS / 2)),
        millis(sorted.get(LOOKS * 99 / 100)),
        millis(sorted.get(LOOKS - 1)));
  }

  private static double millis(Duration duration) {
    return duration.toNanos() / 1e6;
  }
}
