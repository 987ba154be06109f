package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A forked child of a CUDA process, as PyTorch's data loaders are, keeps what it cannot use. */
class ForkedChildTest {

  private static final int MIB = 8;
  private static final String CHILD = "loader";

  private final ProcFs proc = new ProcFs();

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @BeforeEach
  void makeLab() {
    lab = new EngineLab(1, 96);
  }

  @AfterEach
  void closeLab() {
    lab.close();
  }

  @Test
  void keepsItsDevicesInPlaceAsOftenAsItIsFrozen() throws Exception {
    try (GpuContainer source = GpuContainer.start(spec())) {
      source.awaitSteps(2);
      List<String> before = devices(source.pid());
      assertThat(before).contains("descriptor of /dev/nvidiactl", "mapping of /dev/nvidiactl");
      lab.published(Asked.of(lab, source));
      source.awaitSteps(2);
      lab.published(Asked.of(lab, source));
      source.awaitSteps(2);
      source.verify(MIB);
      assertThat(devices(source.pid())).isEqualTo(before);
    }
  }

  @Test
  void hasNoneOfTheOldNodeElsewhereAndComesBackFromThereToo() throws Exception {
    CheckpointOutcome.Published first;
    try (GpuContainer source = GpuContainer.start(spec())) {
      source.awaitSteps(2);
      first = lab.published(Asked.of(lab, source));
    }
    CheckpointOutcome.Published second;
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      int root = restore(first, target);
      assertThat(devices(root)).isEmpty();
      assertThat(proc.openFiles(child(root).pid()))
          .filteredOn(file -> file.target().equals("/dev/null"))
          .as("the numbers stay taken")
          .hasSizeGreaterThanOrEqualTo(2);
      second = lab.published(Asked.of(lab, target));
      target.awaitSteps(2);
    }
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      restore(second, target);
    }
  }

  private ContainerSpec spec() {
    return ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--loader");
  }

  private int restore(CheckpointOutcome.Published published, GpuContainer target) throws Exception {
    RestoreOutcome outcome = lab.restore(published.artifact().path(), target);
    assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
    target.awaitSteps(3);
    return ((RestoreOutcome.Proven) outcome).init();
  }

  private List<String> devices(int parent) {
    int pid = child(parent).pid();
    List<String> found = new java.util.ArrayList<>();
    proc.openFiles(pid).forEach(file -> found.add("descriptor of " + file.target()));
    proc.maps(pid).forEach(mapping -> found.add("mapping of " + mapping.path()));
    return found.stream().filter(it -> it.contains(" of /dev/nvidia")).toList();
  }

  private ProcessStat child(int parent) {
    return proc.children(parent).stream()
        .filter(stat -> stat.comm().equals(CHILD))
        .findFirst()
        .orElseThrow();
  }
}
