package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The same free byte is promised to one operation only. */
class PromisedMemoryTest {

  private static final int MIB = 16;

  /** Far more than a restore takes here. */
  private static final Duration LIMIT = Duration.ofMinutes(4);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 128);
    source = GpuContainer.start(spec());
    source.awaitSteps(3);
  }

  private static ContainerSpec spec() {
    return ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100");
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  @AfterEach
  void nothingStaysPromised() {
    ledger().giveBack("another");
    if (!lab.engine().thaw().inHand().isEmpty()) {
      try {
        lab.thaw(source);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    assertThat(lab.state().resolve("promised")).isEmptyDirectory();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  private static MemoryLedger ledger() {
    return lab.parts().ledger();
  }

  @Test
  void aFreezeIsRefusedWhileAnotherOneWasPromisedTheMemory() throws Exception {
    ledger().promise("another", 1L << 55, 0);

    assertThat(lab.checkpoint(Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused -> assertThat(refused.unmet().toString()).contains("reserved by other"));

    ledger().giveBack("another");
    lab.published(Asked.of(lab, source));
  }

  /** Its stage in memory is kept until the artifact is published: the memory lies there twice. */
  @ParameterizedTest
  @CsvSource({"RESUME, true", "SUSPEND, true", "EVICT, false"})
  void aFreezeIsPromisedEachCopyUntilItHasTakenIt(After after, boolean staged) throws Exception {
    List<MemoryLedger.Promise> promised = new ArrayList<>();
    HookedStep.Hook hook =
        (moment, step) -> {
          if ((moment == Moment.BEFORE || moment == Moment.AFTER)
              && step.equals("gpu-checkpoint")) {
            promised.add(ledger().of(source.id()).orElseThrow());
          }
        };
    Checkpoint checkpoint = new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook));

    EngineLab.checkpoint(checkpoint, Asked.of(lab, source).after(after));

    assertThat(promised).hasSize(2);
    assertThat(promised.get(1).hostBytes()).isEqualTo(promised.get(0).stageBytes());
    assertThat(promised.get(0).hostBytes())
        .isGreaterThanOrEqualTo(Room.needed((long) MIB << 20) + (staged ? (long) MIB << 20 : 0));
    assertThat(promised.get(0).stageBytes() > 0).isEqualTo(staged);
  }

  /** A dump beside it has passed the same check, and has not written anything yet. */
  @Test
  void imagesAreDumpedIntoTheStoreIfTheMemoryIsPromisedToAnotherDump() throws Exception {
    List<Boolean> inMemory = new ArrayList<>();
    for (long promised : List.of(0L, 1L << 55)) {
      HookedStep.Hook hook =
          (moment, step) -> {
            if (moment == Moment.BEFORE && step.equals("dump")) {
              ledger().promiseImages("another", promised);
            }
            if (moment == Moment.AFTER && step.equals("dump")) {
              inMemory.add(Files.exists(images()));
              ledger().giveBackImages("another");
            }
          };
      Checkpoint checkpoint = new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook));

      assertThat(EngineLab.checkpoint(checkpoint, Asked.of(lab, source)))
          .isInstanceOf(CheckpointOutcome.Published.class);
    }
    assertThat(inMemory).containsExactly(true, false);
  }

  private static Path images() {
    return lab.state().resolve("work").resolve(source.id()).resolve(CriuImages.FOLDER);
  }

  /** From then on the kernel counts what criu has written. */
  @Test
  void memoryForImagesIsPromisedUntilCriuHasEnded() throws Exception {
    Path seen = lab.folder().resolve("seen");
    Path criu =
        new WrappedProgram(lab.folder().resolve("wrapped"))
            .followedBy(
                "criu",
                EngineLab.criu(),
                "dump",
                "cp -r '%s' '%s'".formatted(lab.state().resolve("promised"), seen));
    List<Long> afterwards = new ArrayList<>();
    HookedStep.Hook hook =
        (moment, step) -> {
          if (moment == Moment.AFTER && step.equals("dump")) {
            try {
              afterwards.add(ledger().imageBytes());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };

    Checkpoint checkpoint =
        new Checkpoint(LabParts.criu(lab, criu), HookedStep.all(Checkpoint.steps(), hook));
    assertThat(EngineLab.checkpoint(checkpoint, Asked.of(lab, source)))
        .isInstanceOf(CheckpointOutcome.Published.class);

    assertThat(seen.resolve(source.id() + ".images")).exists();
    assertThat(afterwards).containsExactly(0L);
  }

  @Test
  void aRestoreIsPromisedTheDeviceMemoryUntilItsProcessesHaveIt() throws Exception {
    Path artifact = lab.published(Asked.of(lab, source)).artifact().path();
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      Map<String, Long> promised = new HashMap<>();
      HookedStep.Hook hook =
          (moment, step) -> {
            if (moment == Moment.BEFORE) {
              promised.put(
                  step, ledger().of(target.id()).map(MemoryLedger.Promise::hostBytes).orElse(0L));
            }
          };
      Restore restore = new Restore(lab.parts(), HookedStep.all(Restore.steps(), hook));

      assertThat(EngineLab.restore(restore, artifact, target))
          .isInstanceOf(RestoreOutcome.Proven.class);

      for (String step : List.of("unpack", "criu-restore", "fill")) {
        assertThat(promised.getOrDefault(step, 0L))
            .as(step)
            .isGreaterThanOrEqualTo(Room.needed((long) MIB << 20));
      }
      assertThat(promised).containsEntry("continue", 0L).containsEntry("gpu-restore", 0L);
    }
  }

  @Test
  void aRestoreWaitsWhileAnotherOperationWasPromisedTheMemory() throws Exception {
    Path artifact = lab.published(Asked.of(lab, source)).artifact().path();
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      ledger().promise("another", 1L << 55, 0);
      assertThat(restore(artifact, target, Duration.ofMillis(500), EngineLab.control()))
          .isInstanceOfSatisfying(
              RestoreOutcome.Refused.class,
              refused -> assertThat(refused.unmet().toString()).contains("reserved by other"));

      OperationControl cancelled = EngineLab.control();
      cancelled.cancel("a user");
      assertThat(restore(artifact, target, LIMIT, cancelled))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> assertThat(failed.reason()).isEqualTo(Reason.CANCELLED));

      OperationControl control = OperationControl.within(new ReleasingClock(), LIMIT);
      assertThat(restore(artifact, target, LIMIT, control))
          .isInstanceOf(RestoreOutcome.Proven.class);
    }
  }

  private static RestoreOutcome restore(
      Path artifact, GpuContainer target, Duration wait, OperationControl control)
      throws InterruptedException {
    RestoreRequest.Options usual = RestoreRequest.Options.defaults();
    RestoreRequest.Options options = new RestoreRequest.Options(usual.tcp(), wait, usual.threads());
    return lab.engine()
        .restore()
        .run(EngineLab.restoreRequest(artifact, target, options), control, StepListener.NONE);
  }

  @Test
  void thosePromisedLaterWereAdmittedBesideOneAndDoNotCount(@TempDir Path state) throws Exception {
    MemoryLedger ledger = at(state);
    ledger.promise("first", 10, 1);
    ledger.promise("second", 20, 2);
    ledger.promise("first", 5, 1);

    assertThat(ledger.others("first").hostBytes()).isZero();
    assertThat(ledger.others("second").hostBytes()).isEqualTo(5);
    assertThat(ledger.others("third").hostBytes()).isEqualTo(25);
    assertThat(ledger.others("third").stageBytes()).isEqualTo(3);
  }

  @Test
  void aReservationOfADeadAgentCountsOnlyDuringItsOperation(@TempDir Path state) throws Exception {
    MemoryLedger ledger = at(state);
    ledger.promise("dead", 10, 0);
    Path file = state.resolve("promised/dead");
    ProcessId self = new ProcFs().id((int) ProcessHandle.current().pid()).orElseThrow();
    String dead = Files.readString(file).replace("" + self.startTime(), "1");
    Files.writeString(file, dead);
    assertThat(ledger.others("new").hostBytes()).isZero();

    new WorkJournal(state).folderOf("dead");
    Files.writeString(state.resolve("work/dead/work.json"), "{");
    assertThat(ledger.others("new").hostBytes()).isEqualTo(10);

    Files.writeString(file, dead.replace(new ProcFs().bootId(), "boot-before"));
    assertThat(ledger.others("new").hostBytes()).isZero();
  }

  @Test
  void imagesThatACriuOfADeadAgentMayWriteCountUntilItsOperationHasEnded(@TempDir Path state)
      throws Exception {
    MemoryLedger ledger = at(state);
    ledger.promiseImages("dead", 10);
    ledger.promiseImages("alive", 1);
    Path file = state.resolve("promised/dead.images");
    ProcessId self = new ProcFs().id((int) ProcessHandle.current().pid()).orElseThrow();
    Files.writeString(file, Files.readString(file).replace("" + self.startTime(), "1"));
    new WorkJournal(state).folderOf("dead");
    Files.writeString(state.resolve("work/dead/work.json"), "{");
    assertThat(ledger.imageBytes()).isEqualTo(11);
    ledger.removeForgotten();
    assertThat(file).exists();

    new WorkJournal(state).remove("dead");
    assertThat(ledger.imageBytes()).isEqualTo(1);
    ledger.removeForgotten();
    assertThat(state.resolve("promised")).isDirectoryNotContaining("glob:**dead*");
    assertThat(ledger.imageBytes()).isEqualTo(1);
  }

  private static MemoryLedger at(Path state) throws IOException {
    ProcFs proc = new ProcFs();
    return new MemoryLedger(
        state, new HostLocks(state, System::nanoTime), new WorkJournal(state), proc);
  }

  /**
   * The other operation gives its memory back at the second question: the first one is for the
   * start of the deadline, the next one that of a restore that waits.
   */
  private static final class ReleasingClock extends Clock {

    private final AtomicInteger asked = new AtomicInteger();

    @Override
    public Instant instant() {
      if (asked.incrementAndGet() == 2) {
        ledger().giveBack("another");
      }
      return Instant.now();
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
