package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObservedGpu;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TimeSliceQueueTest {

  private static final long SLICE = 30;

  /** How long a freeze takes, and a resume. */
  private static final long CHANGE = 3;

  private final TimeSliceQueue rota = new TimeSliceQueue();
  private final List<GpuCheckpoint> all = new ArrayList<>();
  private Instant now = World.START;

  @Test
  void threeOnOneGpuEachMakeProgressAndTwoNeverRunAtOnce() {
    for (String name : List.of("a", "b", "c")) {
      suspended(name, "GPU-1");
      now = now.plusSeconds(1);
    }
    Map<String, Integer> ran = new HashMap<>();
    List<String> order = new ArrayList<>();
    Map<String, Instant> changing = new HashMap<>();
    for (int second = 0; second < 600; second++) {
      now = now.plusSeconds(1);
      for (GpuCheckpoint one : all) {
        step(one, changing);
      }
      List<String> running =
          all.stream()
              .filter(it -> it.getStatus().getPhase() != CheckpointPhase.SUSPENDED)
              .map(it -> it.getMetadata().getName())
              .toList();
      assertThat(running).hasSizeLessThanOrEqualTo(1);
      for (String name : running) {
        ran.merge(name, 1, Integer::sum);
        if (order.isEmpty() || !order.get(order.size() - 1).equals(name)) {
          order.add(name);
        }
      }
    }

    assertThat(ran.values()).allMatch(seconds -> seconds > 120);
    assertThat(order).startsWith("a", "b", "c", "a", "b", "c");
  }

  @Test
  void aWorkloadThatIsAloneKeepsRunning() {
    GpuCheckpoint one = suspended("a", "GPU-1");
    suspended("other-gpu", "GPU-2");

    assertThat(decide(one).runs()).isTrue();
    running(one);
    now = now.plusSeconds(10 * SLICE);
    assertThat(decide(one).runs()).isTrue();
    assertThat(decide(one).until()).isEmpty();
  }

  @Test
  void noWorkloadRunsBeforeAllOthersAreSuspended() {
    GpuCheckpoint first = suspended("a", "GPU-1");
    GpuCheckpoint freezing = suspended("b", "GPU-1");
    freezing.getStatus().setPhase(CheckpointPhase.FREEZING);
    assertThat(decide(first).runs()).isFalse();

    freezing.getStatus().setPhase(CheckpointPhase.SUSPENDED);
    assertThat(decide(first).runs()).isTrue();
    assertThat(decide(freezing).runs()).isFalse();
  }

  @Test
  void workloadsWithoutASliceDoNotBlockTheQueue() {
    GpuCheckpoint first = suspended("a", "GPU-1");
    running(suspended("free", "GPU-1")).getSpec().getOptions().setTimeSlice(null);
    suspended("over", "GPU-1").getStatus().setPhase(CheckpointPhase.FAILED);

    assertThat(decide(first).runs()).isTrue();
  }

  @Test
  void aSliceIsRunToItsEnd() {
    GpuCheckpoint one = running(suspended("a", "GPU-1"));
    suspended("b", "GPU-1");

    assertThat(decide(one).until()).contains(now.plusSeconds(SLICE));
    now = now.plusSeconds(SLICE);
    assertThat(decide(one).runs()).isFalse();
  }

  @Test
  void aWorkloadThatItsUserKeepsSuspendedIsSkipped() {
    GpuCheckpoint kept = suspended("a", "GPU-1");
    kept.getSpec().setDesiredState(DesiredState.SUSPENDED);
    now = now.plusSeconds(1);
    GpuCheckpoint next = suspended("b", "GPU-1");

    assertThat(decide(kept).runs()).isFalse();
    assertThat(decide(next).runs()).isTrue();
    running(next);
    now = now.plusSeconds(10 * SLICE);
    assertThat(decide(next).runs()).isTrue();
  }

  @Test
  void aWorkloadThatItsUserKeepsRunningGoesFirstAndIsAwaited() {
    GpuCheckpoint first = suspended("a", "GPU-1");
    now = now.plusSeconds(1);
    GpuCheckpoint wanted = suspended("b", "GPU-1");
    wanted.getSpec().setDesiredState(DesiredState.RUNNING);

    assertThat(decide(first).runs()).isFalse();
    assertThat(decide(wanted).runs()).isTrue();
    running(wanted);
    now = now.plusSeconds(10 * SLICE);
    assertThat(decide(wanted).runs()).isTrue();
    assertThat(decide(first).runs()).isFalse();
    assertThat(decide(first).place()).isEqualTo(1);
    assertThat(decide(first).holder()).contains(wanted);
  }

  @Test
  void aDeletedWorkloadIsResumedNextButNotBesideARunningOne() {
    GpuCheckpoint runs = running(suspended("a", "GPU-1"));
    GpuCheckpoint other = suspended("b", "GPU-1");
    now = now.plusSeconds(1);
    GpuCheckpoint deleted = suspended("c", "GPU-1");
    deleted.getMetadata().setDeletionTimestamp(now.toString());

    assertThat(decide(deleted).runs()).isFalse();
    runs.getStatus().setPhase(CheckpointPhase.SUSPENDED);
    assertThat(decide(deleted).runs()).isTrue();
    assertThat(decide(other).runs()).isFalse();
    assertThat(decide(runs).runs()).isFalse();
  }

  @Test
  void aLateObservationNeverLetsTwoWorkloadsRun() {
    GpuCheckpoint one = suspended("a", "GPU-1");
    now = now.plusSeconds(1);
    GpuCheckpoint two = suspended("b", "GPU-1");
    assertThat(decide(one).runs()).isTrue();

    // Nobody has told the other one that the first goes on.
    assertThat(decide(two).runs()).isFalse();
    assertThat(decide(two).place()).isEqualTo(1);
  }

  private void step(GpuCheckpoint one, Map<String, Instant> changing) {
    String name = one.getMetadata().getName();
    GpuCheckpointStatus status = one.getStatus();
    CheckpointPhase phase = status.getPhase();
    boolean done =
        changing.containsKey(name) && !changing.get(name).plusSeconds(CHANGE).isAfter(now);
    if (phase == CheckpointPhase.RESUMING && done) {
      running(one);
    } else if (phase == CheckpointPhase.FREEZING && done) {
      status.setPhase(CheckpointPhase.SUSPENDED);
      waits(one);
    } else if (phase == CheckpointPhase.SUSPENDED && decide(one).runs()) {
      status.setPhase(CheckpointPhase.RESUMING);
      changing.put(name, now);
    } else if (phase == CheckpointPhase.PENDING && !decide(one).runs()) {
      status.setPhase(CheckpointPhase.FREEZING);
      changing.put(name, now);
    }
  }

  private TimeSliceQueue.Verdict decide(GpuCheckpoint one) {
    return rota.decide(one, all, now);
  }

  private GpuCheckpoint running(GpuCheckpoint one) {
    one.getStatus().setPhase(CheckpointPhase.PENDING);
    waits(one);
    return one;
  }

  private void waits(GpuCheckpoint one) {
    one.getStatus().setTurn(new GpuTurn(null, null, now, null));
  }

  private GpuCheckpoint suspended(String name, String gpu) {
    GpuCheckpoint one = new GpuCheckpoint();
    one.setMetadata(
        new ObjectMetaBuilder().withNamespace("ml").withName(name).withUid(name).build());
    one.setSpec(new GpuCheckpointSpec());
    one.getSpec().setAfterCheckpoint(AfterCheckpoint.SUSPEND);
    one.getSpec().getOptions().setTimeSlice(TimeSpan.of(SLICE + "s"));
    one.setStatus(new GpuCheckpointStatus());
    one.getStatus().setPhase(CheckpointPhase.SUSPENDED);
    one.getStatus().setSuspensions(1);
    waits(one);
    one.getStatus()
        .setHardware(
            new Hardware(
                "580.1",
                List.of(new ObservedGpu(gpu, "H200", 1L, null, "0000:01:00.0", "9.0")),
                "None",
                null,
                null));
    all.add(one);
    return one;
  }
}
