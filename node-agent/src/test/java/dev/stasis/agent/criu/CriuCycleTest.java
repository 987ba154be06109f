package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.container.StopOutcome;
import dev.stasis.agent.container.StoppedTree;
import dev.stasis.agent.container.TestContainer;
import dev.stasis.agent.container.TestPrograms;
import dev.stasis.agent.container.TreeStopper;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real containers, real criu. */
class CriuCycleTest {

  /** Far more than any of it takes, so that a busy machine fails nothing. */
  private static final Duration LONG = Duration.ofSeconds(60);

  private static final String[] EVERYTHING = {
    "/data", "child", "threads", "deleted", "linked", "lock", "tcp", "shm", "pipe", "timers"
  };

  private final ProcFs proc = new ProcFs();
  private final TreeStopper stopper = new TreeStopper(proc);
  private final CriuRunner runner = new CriuRunner();
  private final LinkRemapLeftovers leftovers = new LinkRemapLeftovers(proc);
  @TempDir Path folder;
  private CriuBundle bundle = new CriuBundle(Path.of("/nowhere"));
  private Path runtime = Path.of("/nowhere");

  @BeforeEach
  void install() throws Exception {
    bundle = new CriuBundle(folder.resolve("bundle"));
    bundle.install(CriuLocator.usual().find().orElseThrow());
    runtime = new TestPrograms().runtime();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1000})
  void aContainerComesBackInAnotherOneAndFromThereAgain(int uid) throws Exception {
    try (TestContainer first = TestContainer.start("workload", uid, EVERYTHING);
        TestContainer second = TestContainer.holder(uid);
        TestContainer third = TestContainer.holder(uid)) {
      awaitTicks(first, 3);

      Container restored = move(first, second, "one");
      int ticks = second.output().size();
      assertThat(restored.isRestored()).isTrue();
      assertThat(restored.upper()).isEqualTo(second.resolve().upper());

      Container again = move(second, third, "two");

      assertThat(second.output().size()).isGreaterThan(ticks - 1);
      ProcessStatus status = proc.status(again.root().pid()).orElseThrow();
      assertThat(status.nsPids()).as("one nested namespace, not one more each time").hasSize(3);
      assertThat(status.uids().real()).isEqualTo(uid);
      assertThat(status.noNewPrivileges()).isTrue();
      assertThat(Long.bitCount(status.capEffective())).isEqualTo(uid == 0 ? 14 : 0);
      assertThat(new ProcessTree(proc).list(again).foreign()).isEmpty();
    }
  }

  @Test
  void maskedPathsAreStillMaskedAfterARestore() throws Exception {
    try (TestContainer first = TestContainer.start("workload", 0, "/data");
        TestContainer second = TestContainer.holder(0)) {
      awaitTicks(first, 1);

      Container restored = move(first, second, "one");

      List<Mount> mounts = restored.mounts();
      assertThat(mounts)
          .filteredOn(mount -> mount.mountPoint().equals("/proc/keys"))
          .singleElement()
          .satisfies(mount -> assertThat(mount.root()).isEqualTo("/null"));
      assertThat(mounts)
          .filteredOn(mount -> mount.mountPoint().equals("/proc/acpi"))
          .singleElement()
          .satisfies(mount -> assertThat(mount.type()).isEqualTo("tmpfs"));
      assertThat(mounts)
          .filteredOn(mount -> mount.mountPoint().equals("/proc/sys"))
          .singleElement()
          .satisfies(mount -> assertThat(mount.isReadOnly()).isTrue());
    }
  }

  @Test
  void aReadOnlyRootIsNoHindrance() throws Exception {
    try (TestContainer first = TestContainer.readOnly("workload", 1000, EVERYTHING);
        TestContainer second = TestContainer.readOnlyHolder(1000)) {
      awaitTicks(first, 2);

      Container restored = move(first, second, "one");

      assertThat(restored.mounts()).anyMatch(it -> it.mountPoint().equals("/") && it.isReadOnly());
      assertThat(inside(restored, "tmp")).isEmptyDirectory();
    }
  }

  /** As the engine does it: what criu changes in the threads is saved before and put back after. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void aCriuThatIsKilledCostsTheWorkloadNothing(int moment) throws Exception {
    Assumptions.assumeTrue(
        mayBeKilled(), "skipped: killed in a dump, a criu not of bin/setup may end the workload");
    try (TestContainer running = TestContainer.start("workload", 0, EVERYTHING)) {
      Container container = running.resolve();
      awaitTicks(running, running.output().size() + 1);
      StoppedTree stopped = stop(container);
      ThreadGuard guard = new ThreadGuard(runtime, folder.resolve("guard"), child -> {});
      assertThat(guard.save(stopped.stopped())).isEmpty();
      Process dump =
          new ProcessBuilder(plan(container, "killed" + moment).command(List.of()))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      // A dump of this tree takes some 50 ms; the last moments may find it finished.
      dump.waitFor(moment * 5L, TimeUnit.MILLISECONDS);
      dump.destroyForcibly().waitFor();

      goesOn(running, container, stopped, guard);
    }
  }

  private void goesOn(
      TestContainer running, Container container, StoppedTree stopped, ThreadGuard guard)
      throws Exception {
    await().atMost(LONG).until(() -> untraced(stopped.stopped()));
    assertThat(stopper.stopAgain(container, List.of(), LONG))
        .isInstanceOf(StopOutcome.Stopped.class);
    assertThat(guard.restore()).isEmpty();
    leftovers.remove(stopped.stopped());
    assertThat(stopper.resume(stopped, LONG)).isEmpty();
    awaitTicks(running, running.output().size() + 2);
    assertThat(running.output()).allMatch(line -> line.endsWith("ok"));
  }

  private static boolean mayBeKilled() throws Exception {
    Process version =
        new ProcessBuilder(CriuLocator.usual().find().orElseThrow().toString(), "--version")
            .redirectErrorStream(true)
            .start();
    return new String(version.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .anyMatch(line -> line.matches("GitID: stasis-[0-9]+"));
  }

  @Test
  void theSourceGoesOnAfterADumpAndCanBeDumpedAgain() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, EVERYTHING)) {
      Container container = running.resolve();
      for (String generation : List.of("one", "two")) {
        awaitTicks(running, running.output().size() + 2);
        StoppedTree stopped = stop(container);
        assertThat(dump(container, generation)).isInstanceOf(CriuOutcome.Succeeded.class);
        assertThat(leftovers.remove(stopped.stopped()))
            .singleElement()
            .asString()
            .matches("/data/link_remap\\.[0-9]+");
        assertThat(stopper.resume(stopped, LONG)).isEmpty();
      }
      awaitTicks(running, running.output().size() + 2);
      assertThat(running.output()).allMatch(line -> line.endsWith("ok"));
      assertThat(running.data().toFile().list()).containsExactlyInAnyOrder("lock", "log", "second");
    }
  }

  @Test
  void aFailedDumpSaysWhyAndLeavesTheTreeStopped() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data", "linked", "child")) {
      Container container = running.resolve();
      awaitTicks(running, 2);
      StoppedTree stopped = stop(container);
      assertThat(dump(container, "one")).isInstanceOf(CriuOutcome.Succeeded.class);

      CriuOutcome second = dump(container, "two");

      assertThat(second).isInstanceOf(CriuOutcome.Failed.class);
      CriuFault fault = ((CriuOutcome.Failed) second).fault();
      assertThat(fault.kind()).isEqualTo(CriuFault.Kind.LEFT_OVER_LINK);
      assertThat(fault.subject()).isEqualTo("/data/linked");
      assertThat(stopper.awaitStopped(stopped, LONG)).isEmpty();
      assertThat(leftovers.remove(stopped.stopped())).hasSize(1);
      assertThat(stopper.resume(stopped, LONG)).isEmpty();
      awaitTicks(running, running.output().size() + 2);
    }
  }

  @Test
  void aFileOfTheWorkloadsOwnIsNeverTakenForALeftover() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data", "linked")) {
      awaitTicks(running, 1);
      Path own = Files.writeString(running.data().resolve("link_remap.1"), "mine");
      StoppedTree stopped = stop(running.resolve());

      assertThat(leftovers.remove(stopped.stopped())).isEmpty();

      assertThat(own).hasContent("mine");
      stopper.resume(stopped, LONG);
    }
  }

  /** On a busy machine five milliseconds end anywhere in a dump. */
  @Test
  void aRunThatTakesTooLongIsEndedAndTheTreeIsStillWhole() throws Exception {
    Assumptions.assumeTrue(
        mayBeKilled(), "skipped: ended in a dump, a criu not of bin/setup may end the workload");
    try (TestContainer running = TestContainer.start("workload", 0, EVERYTHING)) {
      awaitTicks(running, 2);
      Container container = running.resolve();
      StoppedTree stopped = stop(container);
      ThreadGuard guard = new ThreadGuard(runtime, folder.resolve("guard"), child -> {});
      assertThat(guard.save(stopped.stopped())).isEmpty();

      CriuOutcome outcome = runner.dump(plan(container, "one"), Duration.ofMillis(5), bytes -> {});

      assertThat(outcome).isEqualTo(new CriuOutcome.TimedOut(Duration.ofMillis(5), false));
      goesOn(running, container, stopped, guard);
    }
  }

  @Test
  void criuThatCannotStartIsToldFromCriuThatFailed() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data")) {
      Container container = running.resolve();
      CriuBundle empty = new CriuBundle(folder.resolve("none"));
      DumpPlan plan =
          new DumpPlan(
              runtime, empty, container, 0, make("images"), make("w"), CriuOptions.usual());
      CriuOutcome outcome = runner.dump(plan, LONG, bytes -> {});

      assertThat(outcome).isInstanceOf(CriuOutcome.Failed.class);
      assertThat(((CriuOutcome.Failed) outcome).fault().kind())
          .isEqualTo(CriuFault.Kind.NOT_STARTED);
    }
  }

  /** Stops, dumps, carries the volumes over, restores, lets go, and sees the numbers go on. */
  private Container move(TestContainer from, TestContainer to, String name) throws Exception {
    Container source = from.resolve();
    StoppedTree stopped = stop(source);
    CriuOutcome dumped = dump(source, name);
    assertThat(dumped).isInstanceOf(CriuOutcome.Succeeded.class);
    assertThat(((CriuOutcome.Succeeded) dumped).took()).isPositive();
    Container holder = to.resolve();
    copy(from.data(), to.data());
    copy(inside(source, "dev/shm"), inside(holder, "dev/shm"));
    MountMatch mounts = new MountMatcher().match(source.mounts(), holder.mounts());
    assertThat(mounts).isInstanceOf(MountMatch.Matched.class);
    Path work = make(name + "-restore");

    CriuOutcome restored =
        runner.restore(
            new RestorePlan(
                runtime,
                bundle,
                holder,
                ((MountMatch.Matched) mounts).pairs(),
                source.pipes(),
                List.of(),
                folder.resolve(name + "-images"),
                work,
                CriuOptions.usual()),
            LONG);

    assertThat(restored).isInstanceOf(CriuOutcome.Succeeded.class);
    Container now = to.resolve();
    List<ProcessId> tree = new ProcessTree(proc).list(now).living();
    assertThat(tree).hasSameSizeAs(stopped.stopped());
    StoppedTree stillStopped = new StoppedTree(tree, List.of());
    assertThat(stopper.awaitStopped(stillStopped, LONG)).isEmpty();
    assertThat(stopper.resume(stillStopped, LONG)).isEmpty();
    awaitTicks(to, 3);
    assertThat(to.output()).allMatch(line -> line.endsWith("ok"));
    // What the source printed last went into a pipe whose reader may come late.
    await()
        .atMost(LONG)
        .untilAsserted(
            () ->
                assertThat(number(to.output().get(0)))
                    .isEqualTo(number(from.output().get(from.output().size() - 1)) + 1));
    return now;
  }

  private CriuOutcome dump(Container container, String name) throws Exception {
    return runner.dump(plan(container, name), LONG, bytes -> {});
  }

  private DumpPlan plan(Container container, String name) throws IOException {
    long own = proc.namespaces((int) ProcessHandle.current().pid()).getOrDefault("mnt", 0L);
    return new DumpPlan(
        runtime,
        bundle,
        container,
        own,
        make(name + "-images"),
        make(name + "-dump"),
        CriuOptions.usual());
  }

  private boolean untraced(List<ProcessId> tree) {
    return tree.stream()
        .flatMap(process -> proc.threads(process.pid()).stream())
        .allMatch(thread -> thread.tracerPid() == 0);
  }

  private StoppedTree stop(Container container) {
    StopOutcome outcome = stopper.stop(container, List.of(), LONG);
    return ((StopOutcome.Stopped) outcome).tree();
  }

  private Path make(String name) throws IOException {
    return Files.createDirectories(folder.resolve(name));
  }

  private static Path inside(Container container, String path) {
    return Path.of("/proc/" + container.root().pid() + "/root").resolve(path);
  }

  private static void copy(Path from, Path to) throws Exception {
    Process copy = new ProcessBuilder("cp", "-a", from + "/.", to.toString()).inheritIO().start();
    assertThat(copy.waitFor()).isZero();
  }

  private static int number(String line) {
    return Integer.parseInt(line.split(" ")[1]);
  }

  private static void awaitTicks(TestContainer container, int lines) {
    await().atMost(LONG).until(() -> container.output().size() >= lines);
  }
}
