package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Device memory that is loaded while the files of an artifact arrive. */
class PrefetchTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final long BYTES = (long) DirectLab.MIB << 20;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static DirectLab direct;

  @SuppressWarnings("NullAway.Init")
  private static Path saved;

  @SuppressWarnings("NullAway.Init")
  private static List<String> before;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer target;

  private long freeBefore;

  @BeforeAll
  static void save() throws InterruptedException {
    lab = new EngineLab(1, 256);
    direct = new DirectLab(lab);
    try (GpuContainer source = GpuContainer.start(direct.counter())) {
      source.awaitSteps(3);
      saved = lab.published(Asked.of(lab, source)).artifact().path();
      source.end();
      before = source.lines();
    }
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  @BeforeEach
  void start() {
    freeBefore = free();
    target = GpuContainer.start(direct.counter().asHolder());
  }

  @AfterEach
  void nothingIsLeft() {
    target.close();
    Awaitility.await("keepers end with their container")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(direct.keepers("serve")).isEmpty());
    assertThat(free()).isEqualTo(freeBefore);
    lab.assertNothingLeft();
  }

  /** An artifact that arrives in a staging folder. */
  private record Arrival(Path folder, Prefetch prefetch) {

    static Arrival at(GpuContainer target) throws IOException, InterruptedException {
      Path folder = Files.createDirectory(lab.store().resolve("arriving-" + UUID.randomUUID()));
      return new Arrival(folder, lab.engine().prefetch(target.id(), folder).orElseThrow());
    }

    /** All files; the device memory as the keeper of a source writes it. */
    Arrival all(boolean damaged) throws IOException {
      new Sh().must("cp", "-a", saved + "/.", folder.toString());
      Path table = device(".chunks");
      String name = "device/" + table.getFileName();
      prefetch.arrived(name, 0, (int) Files.size(table));
      if (damaged) {
        try (RandomAccessFile data = new RandomAccessFile(device(".data").toFile(), "rw")) {
          data.seek(BYTES / 2);
          int was = data.read();
          data.seek(BYTES / 2);
          data.write(was ^ 1);
        }
      }
      // In blocks, and not in their order.
      for (long block : new long[] {1, 0, 3, 2}) {
        prefetch.arrived(name.replace(".chunks", ".data"), block << 22, 1 << 22);
      }
      return this;
    }

    Path device(String suffix) throws IOException {
      try (Stream<Path> files = Files.list(folder.resolve("device"))) {
        return files.filter(file -> file.toString().endsWith(suffix)).findFirst().orElseThrow();
      }
    }

    Arrival loaded() {
      Awaitility.await("the keeper has loaded it")
          .atMost(LIMIT)
          .until(() -> prefetch.loadedBytes() >= BYTES);
      return this;
    }

    /** It is complete, and gets its place. */
    Path published() throws IOException {
      prefetch.stop();
      Path place = lab.store().resolve("artifact-" + UUID.randomUUID());
      Files.move(folder, place);
      prefetch.keep();
      prefetch.close();
      return place;
    }
  }

  private static long free() {
    return lab.worker().gpus(LIMIT) instanceof DriverAnswer.Done<NodeGpus> done
        ? done.value().gpus().get(0).memoryFree()
        : -1;
  }

  private void runs(Path artifact) throws InterruptedException {
    runs(lab.restore(artifact, target));
  }

  private void runs(RestoreOutcome outcome) {
    assertThat(outcome).as(outcome.toString()).isInstanceOf(RestoreOutcome.Proven.class);
    target.awaitSteps(5);
    target.verify(DirectLab.MIB, before);
  }

  private static void loseData(Path artifact) throws IOException {
    try (Stream<Path> files = Files.list(artifact.resolve("device"))) {
      Path data = files.filter(file -> file.toString().endsWith(".data")).findFirst().orElseThrow();
      Files.write(data, new byte[(int) BYTES]);
    }
  }

  @Test
  void whatWasLoadedWhileItArrivedIsNotReadAgain() throws Exception {
    Path artifact = Arrival.at(target).all(false).loaded().published();
    loseData(artifact);

    runs(artifact);
  }

  @Test
  void aDamagedByteThatArrivesIsRefusedBeforeAnythingRuns() throws Exception {
    Path artifact = Arrival.at(target).all(true).loaded().published();

    RestoreOutcome outcome = lab.restore(artifact, target);

    assertThat(outcome)
        .isInstanceOfSatisfying(
            RestoreOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.ARTIFACT_REFUSED);
              assertThat(failed.message()).contains("wrong digest");
              assertThat(failed.ended()).isTrue();
            });
    assertThat(target.lines()).noneMatch(line -> line.startsWith("step"));
  }

  @Test
  void aRestoreDoesNotNeedWhatHasNotBeenLoadedYet() throws Exception {
    Arrival arrival = Arrival.at(target);
    new Sh().must("cp", "-a", saved + "/.", arrival.folder().toString());

    runs(arrival.published());
  }

  @Test
  void aTransferThatFailsLeavesNothingOnTheGpu() throws Exception {
    Arrival arrival = Arrival.at(target).all(false).loaded();
    assertThat(free()).isLessThan(freeBefore - BYTES);

    arrival.prefetch().close();

    assertThat(direct.keepers("serve")).isEmpty();
    assertThat(free()).isEqualTo(freeBefore);
  }

  /** The context of a keeper takes some of the memory that the workload may need. */
  @Test
  void aSourceThatHasNotTakenTheDirectPathLeavesNoKeeper() throws Exception {
    Prefetch prefetch = Arrival.at(target).prefetch();
    Awaitility.await("the keeper has started")
        .atMost(LIMIT)
        .until(() -> !direct.keepers("serve").isEmpty());

    prefetch.arrived("criu/pages-1.img", 0, 1 << 22);
    prefetch.stop();
    prefetch.keep();
    prefetch.close();

    assertThat(direct.keepers("serve")).isEmpty();
    assertThat(free()).isEqualTo(freeBefore);
  }

  @Test
  void theKeeperOfARunningWorkloadIsNotTouched() throws Exception {
    try (GpuContainer running = GpuContainer.start(direct.counter())) {
      running.awaitSteps(2);

      assertThat(lab.engine().prefetch(running.id(), lab.store())).isEmpty();
    }
  }

  @Test
  void theKeeperOfAnOperationThatHasBegunMeanwhileIsNotTouched() throws Exception {
    Prefetch prefetch = Arrival.at(target).all(false).loaded().prefetch();
    lab.parts().journal().write(Work.unknown(target.id(), "an operation", Instant.EPOCH));

    prefetch.close();

    assertThat(direct.keepers("serve")).hasSize(1);
    lab.parts().journal().remove(target.id());
  }

  @Test
  void theNextAttemptReplacesWhatAnAgentThatDiedHasLoaded() throws Exception {
    Arrival.at(target).all(false).loaded().published();
    long left = free();

    Path artifact = Arrival.at(target).all(false).loaded().published();

    assertThat(free()).isEqualTo(left);
    runs(artifact);
  }

  @Test
  void aContainerThatEndsFreesTheGpuDuringTheTransfer() throws Exception {
    try (Prefetch prefetch = Arrival.at(target).all(false).loaded().prefetch()) {
      target.end();

      Awaitility.await("the keeper has ended")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(direct.keepers("serve")).isEmpty());
      assertThat(prefetch.loadedBytes()).isZero();
    }
  }

  @Test
  void aContainerThatEndsFreesTheGpuBeforeARestore() throws Exception {
    Arrival.at(target).all(false).loaded().published();

    target.end();

    Awaitility.await("the keeper has ended")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(direct.keepers("serve")).isEmpty());
  }

  @Test
  void aGpuWithoutRoomForTheWorkloadTwiceGetsItFromTheFiles() throws Exception {
    try (GpuContainer other = another(margin() + BYTES * 3 / 2)) {
      Arrival arrival = Arrival.at(target).all(false);
      Awaitility.await("the keeper has ended")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(direct.keepers("serve")).isEmpty());

      runs(arrival.published());
      other.awaitSteps(2);
    }
  }

  /** Its memory is free only until it is resumed, for instance in its time slice. */
  @Test
  void theMemoryOfASuspendedWorkloadIsNotTaken() throws Exception {
    try (GpuContainer other = another(margin() + BYTES / 2)) {
      lab.checkpoint(Asked.of(lab, other).to(null).after(After.SUSPEND));
      long left = free();

      try (Prefetch unused = Arrival.at(target).all(false).prefetch()) {
        Awaitility.await("it is given up")
            .atMost(LIMIT)
            .until(
                () ->
                    Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("prefetch of ")));
        assertThat(free()).isEqualTo(left);
        lab.thaw(other);
      }
      other.awaitSteps(2);
    }
  }

  @Test
  void memoryThatTheRestoreLacksIsGivenUpBeforeItsFirstStep() throws Exception {
    Path artifact = Arrival.at(target).all(false).loaded().published();
    // The driver's Restore would wait for that memory, and hold this lock.
    GpuGate.Pass pass = lab.parts().gate().hold(Set.of(GpuUuid.parse(lab.uuid(0))), LIMIT);
    try (GpuContainer other = another(margin() + BYTES / 2);
        pass) {
      long lacking = free();
      List<Long> atFirst = new ArrayList<>();
      HookedStep.Hook looks =
          (moment, step) -> {
            if (atFirst.isEmpty()) {
              atFirst.add(free());
              pass.close();
            }
          };
      Restore hooked =
          new Restore(lab.parts(), HookedStep.<Restoring, FrozenWork>all(Restore.steps(), looks));
      runs(EngineLab.restore(hooked, artifact, target));
      assertThat(atFirst.get(0)).isGreaterThanOrEqualTo(lacking + BYTES);
      other.awaitSteps(2);
    }
  }

  /** A workload that leaves so many bytes of the GPU free. */
  private static GpuContainer another(long left) {
    long mib = (free() - left >> 20) - 8; // Its context takes some, too.
    GpuContainer other =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + mib, "--interval-ms", "100"));
    other.awaitSteps(2);
    return other;
  }

  private static long margin() {
    return lab.worker().gpus(LIMIT) instanceof DriverAnswer.Done<NodeGpus> done
        ? GpuGate.margin(done.value().gpus().get(0))
        : 0;
  }
}
