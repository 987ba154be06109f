package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.mover.JournalReading;
import dev.stasis.agent.mover.RegionJournal;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Engines with a fault in them: the guards catch each, and where the guards are cheated too, the
 * workload says BAD. So the other tests would have seen it.
 */
class BrokenEngineTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  @BeforeEach
  void start() {
    lab = new EngineLab(1, 96);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--busy-writer"));
    source.awaitSteps(3);
  }

  @AfterEach
  void stop() {
    source.close();
    lab.close();
  }

  /** A way back other than the right one. */
  private interface Fault {
    void on(FrozenWork frozen) throws StepFailure, InterruptedException;
  }

  /** The steps, with something else in place of the fill. */
  private static List<Step<Freeze, FrozenWork>> withFill(Fault fault) {
    List<Step<Freeze, FrozenWork>> steps = new ArrayList<>();
    for (Step<Freeze, FrozenWork> step : Checkpoint.steps()) {
      steps.add(step.name().equals("move") ? new OtherUndo(step, fault) : step);
    }
    return steps;
  }

  private record OtherUndo(Step<Freeze, FrozenWork> inner, Fault fault)
      implements Step<Freeze, FrozenWork> {
    @Override
    public String name() {
      return inner.name();
    }

    @Override
    public String undoName() {
      return inner.undoName();
    }

    @Override
    public void run(Freeze freeze) throws StepFailure, InterruptedException {
      inner.run(freeze);
    }

    @Override
    public void undo(FrozenWork frozen) throws StepFailure, InterruptedException {
      fault.on(frozen);
    }
  }

  private CheckpointOutcome run(List<Step<Freeze, FrozenWork>> steps) throws InterruptedException {
    return EngineLab.checkpoint(
        new Checkpoint(lab.parts(), steps), Asked.of(lab, source).by(DataPathChoice.LOW_MEMORY));
  }

  @Test
  void anEngineWithoutTheFillIsRefusedByTheWorker() throws Exception {
    assertThat(run(withFill(frozen -> {})))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.FROZEN);
              assertThat(failed.message()).contains("REGIONS_NOT_WHOLE");
            });
    lab.thaw(source);
    source.awaitSteps(3);
    source.verify(MIB);
  }

  @Test
  void anEngineWithoutTheFillThatHidesTheJournalSpoilsTheNumbers() throws Exception {
    run(withFill(frozen -> frozen.work().regionJournals().forEach(BrokenEngineTest::delete)));
    saysBad();
  }

  @Test
  void aWrongDigestIsFoundBeforeAnythingRuns() throws Exception {
    AtomicBoolean spoiled = new AtomicBoolean();
    CheckpointOutcome outcome =
        run(
            withFill(
                frozen -> {
                  if (!spoiled.getAndSet(true)) {
                    spoilTheStage(frozen);
                  }
                  new MoveStep().undo(frozen);
                }));
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.FROZEN);
              assertThat(failed.message()).contains("has a wrong digest");
            });
  }

  @Test
  void anEngineThatResumesOnAWrongDigestSpoilsTheNumbers() throws Exception {
    run(
        withFill(
            frozen -> {
              spoilTheStage(frozen);
              fillWithoutLooking(frozen);
            }));
    saysBad();
  }

  @Test
  void anEngineThatStopsTooLateIsRefusedByTheMover() throws Exception {
    List<Step<Freeze, FrozenWork>> late = new ArrayList<>(Checkpoint.steps());
    late.add(4, late.remove(3)); // the stop behind the move
    assertThat(late)
        .extracting(Step::name)
        .startsWith("offload", "lock", "gpu-checkpoint", "move", "stop");
    assertThat(run(late))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.step()).isEqualTo("move");
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  /** What is copied beside running threads and put back later is old. */
  @Test
  void anEngineThatCopiesBesideRunningThreadsSpoilsTheNumbers() throws Exception {
    ProcessId process = lab.parts().proc().id(source.pid()).orElseThrow();
    List<Copied> copies = new ArrayList<>();
    HookedStep.Hook hook =
        (moment, step) -> {
          if (moment == HookedStep.Moment.BEFORE && step.equals("stop")) {
            copies.addAll(Copied.allOf(lab, process));
            // On a busy machine the thread that writes all the time may get its turn late.
            Awaitility.await("memory that was written to since")
                .atMost(Duration.ofSeconds(60))
                .until(() -> copies.stream().mapToInt(copy -> copy.oldPages(process)).sum() > 16);
          } else if (moment == HookedStep.Moment.BEFORE_UNDO && step.equals("stop")) {
            copies.forEach(copy -> copy.putBack(process));
          }
        };
    CheckpointOutcome outcome =
        EngineLab.checkpoint(
            new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook)),
            Asked.of(lab, source));
    assertThat(outcome).isNotNull();
    saysBad();
  }

  /** It finds wrong numbers, or the driver finds wrong state of its own and ends it. */
  private void saysBad() {
    Awaitility.await("a workload that sees the fault")
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> !source.running() || source.lines().stream().anyMatch(l -> l.contains("BAD")));
  }

  private static void delete(String file) {
    try {
      Files.delete(Path.of(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RegionJournal journal(FrozenWork frozen) {
    Path file = Path.of(frozen.work().regionJournals().get(0));
    return ((JournalReading.Read) frozen.node().journals().read(file)).journal();
  }

  /** A bit of every page: device memory, the context's state, and what lies unused. */
  private static void spoilTheStage(FrozenWork frozen) {
    int page = 4096;
    try (RandomAccessFile stage = new RandomAccessFile(journal(frozen).stage().toFile(), "rw")) {
      for (long at = 0; at < stage.length(); at += page) {
        stage.seek(at);
        int old = stage.read();
        stage.seek(at);
        stage.write(old ^ 1);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void fillWithoutLooking(FrozenWork frozen) {
    RegionJournal journal = journal(frozen);
    ProcessId process = journal.process();
    try (RandomAccessFile stage = new RandomAccessFile(journal.stage().toFile(), "r");
        RandomAccessFile memory = new RandomAccessFile("/proc/" + process.pid() + "/mem", "rw")) {
      StringBuilder filled = new StringBuilder();
      for (var chunk : journal.chunks().values()) {
        byte[] bytes = new byte[(int) chunk.length()];
        stage.seek(chunk.offset());
        stage.read(bytes);
        memory.seek(chunk.address());
        memory.write(bytes);
        filled.append("F ").append(chunk.number()).append('\n');
      }
      Path file = Path.of(frozen.work().regionJournals().get(0));
      Files.writeString(file, filled, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A stretch of memory as it was at one moment. */
  private record Copied(long address, byte[] bytes) {

    static List<Copied> allOf(EngineLab lab, ProcessId process) {
      List<Copied> copies = new ArrayList<>();
      try (RandomAccessFile memory = new RandomAccessFile("/proc/" + process.pid() + "/mem", "r")) {
        for (var mapping : lab.parts().proc().maps(process.pid())) {
          if (mapping.isAnonymous() && mapping.permissions().equals("rw-p")) {
            byte[] bytes = new byte[(int) mapping.length()];
            memory.seek(mapping.start());
            memory.readFully(bytes);
            copies.add(new Copied(mapping.start(), bytes));
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return copies;
    }

    /** How many of its pages are another by now; a stack alone has one or two. */
    int oldPages(ProcessId process) {
      int page = 4096;
      int old = 0;
      byte[] now = new byte[bytes.length];
      try (RandomAccessFile memory = new RandomAccessFile("/proc/" + process.pid() + "/mem", "r")) {
        memory.seek(address);
        memory.readFully(now);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      for (int at = 0; at < now.length; at += page) {
        int end = Math.min(at + page, now.length);
        old += Arrays.equals(bytes, at, end, now, at, end) ? 0 : 1;
      }
      return old;
    }

    void putBack(ProcessId process) {
      try (RandomAccessFile memory =
          new RandomAccessFile("/proc/" + process.pid() + "/mem", "rw")) {
        memory.seek(address);
        memory.write(bytes);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
