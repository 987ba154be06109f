package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.CpuSet;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ThreadControl;
import dev.stasis.agent.process.ThreadSettings;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What criu does not carry of a thread is there again, in the next generation too. */
class RestoredThreadsTest {

  private static final String[] ARGUMENTS = {
    "--mib", "8", "--interval-ms", "100", "--threads", "2"
  };

  private final ProcFs proc = new ProcFs();

  @Test
  void eachThreadIsBoundToItsProcessorsAndKeepsTheSlackOfItsTimers() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96)) {
      ContainerSpec spec = ContainerSpec.counter(lab.gpus(), ARGUMENTS);
      CheckpointOutcome.Published published;
      Map<Integer, ThreadSettings> bound;
      try (GpuContainer source = GpuContainer.start(spec)) {
        source.awaitSteps(2);
        bound = bind(source.pid());
        published = lab.published(Asked.of(lab, source));
        assertThat(byOwnTid(source.pid())).as("where it goes on in place").isEqualTo(bound);
      }
      try (GpuContainer target = restored(lab, spec, published, bound);
          GpuContainer second = restored(lab, spec, lab.published(Asked.of(lab, target)), bound)) {
        assertThat(second.running()).isTrue();
      }
    }
  }

  private GpuContainer restored(
      EngineLab lab,
      ContainerSpec spec,
      CheckpointOutcome.Published from,
      Map<Integer, ThreadSettings> wanted)
      throws Exception {
    GpuContainer target = GpuContainer.start(spec.asHolder());
    RestoreOutcome outcome = restoredByABoundAgent(lab, from, target);
    assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
    target.awaitSteps(2);
    int pid = ((RestoreOutcome.Proven) outcome).proof().get(0).process().pid();
    assertThat(withoutTids(byOwnTid(pid))).isEqualTo(withoutTids(wanted));
    return target;
  }

  /** Whose own processors are nobody else's. */
  private RestoreOutcome restoredByABoundAgent(
      EngineLab lab, CheckpointOutcome.Published from, GpuContainer target) throws Exception {
    int self =
        Integer.parseInt(String.valueOf(Path.of("/proc/thread-self").toRealPath().getFileName()));
    CpuSet all = proc.status(self).orElseThrow().cpus();
    ThreadControl control = new ThreadControl(proc);
    control.pin(self, new CpuSet(all.cpus().subList(0, 1)));
    try {
      return lab.restore(from.artifact().path(), target);
    } finally {
      control.pin(self, all);
    }
  }

  /** Every second thread to one processor, and the slack of all another one each. */
  private Map<Integer, ThreadSettings> bind(int pid) throws Exception {
    ThreadControl control = new ThreadControl(proc);
    List<ThreadSettings> threads = proc.threadSettings(pid);
    List<Integer> cpus = threads.get(0).cpus().cpus();
    Assumptions.assumeTrue(cpus.size() > 1, "skipped: this machine has one processor only");
    for (int i = 0; i < threads.size(); i++) {
      control.timerSlack(threads.get(i).tid(), 60_000 + i);
      if (i % 2 == 0) {
        control.pin(threads.get(i).tid(), new CpuSet(List.of(cpus.get(i / 2 % cpus.size()))));
      }
    }
    return byOwnTid(pid);
  }

  private Map<Integer, ThreadSettings> byOwnTid(int pid) {
    return proc.threadSettings(pid).stream()
        .collect(Collectors.toMap(ThreadSettings::ownTid, thread -> thread));
  }

  private static Map<Integer, String> withoutTids(Map<Integer, ThreadSettings> threads) {
    return threads.values().stream()
        .collect(
            Collectors.toMap(
                ThreadSettings::ownTid, one -> one.cpus() + " " + one.timerSlackNanos()));
  }
}
