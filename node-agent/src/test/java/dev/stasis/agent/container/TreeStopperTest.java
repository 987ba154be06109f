package dev.stasis.agent.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.Signal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TreeStopperTest {

  /** Far more than any stop takes, so that a busy machine fails nothing. */
  private static final Duration LONG = Duration.ofSeconds(60);

  private final ProcFs proc = new ProcFs();
  private final TreeStopper stopper = new TreeStopper(proc);

  @Test
  void aContainerIsStoppedUntilItIsContinued() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data", "child", "threads")) {
      awaitTicks(running, 2);
      Container container = running.resolve();

      StoppedTree stopped = stop(container);

      assertThat(stopped.stopped()).hasSize(2);
      assertThat(stopped.stoppedBefore()).isEmpty();
      assertThat(stopped.stopped())
          .allSatisfy(process -> assertThat(stopper.isStopped(process)).isTrue());
      assertThat(Freezer.of(container).orElseThrow().isFrozen()).isFalse();
      assertThat(stopper.resume(stopped, LONG)).isEmpty();
      awaitTicks(running, running.output().size() + 2);
      assertThat(running.output()).allMatch(line -> line.endsWith("ok"));
    }
  }

  @Test
  void aProcessThatWasStoppedBeforeStaysStopped() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data", "child")) {
      Container container = running.resolve();
      await().atMost(LONG).until(() -> proc.children(container.root().pid()).size() == 1);
      ProcessId child = proc.children(container.root().pid()).get(0).id();
      try (PidFd pidFd = new PidFds(proc).open(child).orElseThrow()) {
        pidFd.send(Signal.STOP);
      }
      await().atMost(LONG).until(() -> stopper.isStopped(child));

      StoppedTree stopped = stop(container);
      assertThat(stopped.stoppedBefore()).containsExactly(child);
      assertThat(stopped.stopped()).containsExactly(container.root());

      assertThat(stopper.resume(stopped, LONG)).isEmpty();
      assertThat(stopper.isStopped(child)).isTrue();
      assertThat(stopper.isStopped(container.root())).isFalse();
    }
  }

  @Test
  void aTreeThatForksAllTheTimeIsStoppedWhole() throws Exception {
    Process shell =
        new ProcessBuilder(
                "sh", "-c", "while :; do sh -c 'sleep 0.01 & sleep 0.01' & sleep 0; done")
            .start();
    try {
      Container container = plain(shell);

      StoppedTree stopped = stop(container);

      List<ProcessStat> members = new ProcessTree(proc).list(container).members();
      assertThat(members.stream().filter(stat -> !stat.isZombie()))
          .allMatch(stat -> stat.state() == 'T');
      assertThat(stopped.stopped()).contains(container.root());
      stopper.resume(stopped, LONG);
    } finally {
      for (ProcessHandle child : shell.descendants().toList()) {
        child.destroyForcibly();
      }
      shell.destroyForcibly().waitFor();
    }
  }

  /**
   * The fork of a process with much memory takes longer than a list: its child appears after the
   * list was read, and before the process is stopped.
   */
  @RepeatedTest(5)
  void aChildThatAppearsAfterTheListIsStopped(@TempDir Path all) throws Exception {
    Process shell = new ProcessBuilder("sh", "-c", "sleep 100 & wait").start();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      int pid = (int) shell.pid();
      await().atMost(LONG).until(() -> proc.children(pid).size() == 1);
      ProcessId child = proc.children(pid).get(0).id();
      Container container = plain(shell);
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      Path task = Files.createDirectories(all.resolve(pid + "/task/" + pid));
      Files.writeString(all.resolve(pid + "/stat"), stat);
      Files.writeString(task.resolve("stat"), stat);
      Files.writeString(
          task.resolve("status"), Files.readString(Path.of("/proc/" + pid + "/status")));
      Path stopped =
          Files.writeString(all.resolve("stopped"), stat.replaceFirst("\\) [A-Z]", ") T"));
      // Other processes, so that reading the list takes most of the time.
      String other = Files.readString(Path.of("/proc/self/stat"));
      for (int i = 1; i <= 1000; i++) {
        Path folder = Files.createDirectory(all.resolve("" + (10_000_000 + i)));
        Files.writeString(folder.resolve("stat"), other);
      }

      Future<Path> fork =
          thread.submit(
              () -> {
                await()
                    .atMost(LONG)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> proc.stat(pid).filter(ProcessStat::isStopped).isPresent());
                // Into the next reading of the list.
                LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
                Files.createSymbolicLink(
                    all.resolve("" + child.pid()), Path.of("/proc/" + child.pid()));
                return Files.move(stopped, task.resolve("stat"), StandardCopyOption.ATOMIC_MOVE);
              });
      StopOutcome outcome = new TreeStopper(new ProcFs(all)).stop(container, List.of(), LONG);
      fork.get(LONG.toSeconds(), TimeUnit.SECONDS);

      assertThat(outcome)
          .isInstanceOfSatisfying(
              StopOutcome.Stopped.class,
              done ->
                  assertThat(done.tree().stopped())
                      .containsExactlyInAnyOrder(container.root(), child));
      assertThat(stopper.isStopped(child)).isTrue();
    } finally {
      thread.shutdownNow();
      for (ProcessHandle one : shell.descendants().toList()) {
        one.destroyForcibly();
      }
      shell.destroyForcibly().waitFor();
    }
  }

  @Test
  void aReusedPidIsNeverTouched() throws Exception {
    Process sleep = new ProcessBuilder("sleep", "100").start();
    try {
      ProcessId now = proc.id((int) sleep.pid()).orElseThrow();
      ProcessId before = new ProcessId(now.pid(), now.startTime() - 1);

      assertThat(new PidFds(proc).open(before)).isEmpty();
      assertThat(stopper.resume(new StoppedTree(List.of(before), List.of()), LONG)).isEmpty();
      assertThat(proc.alive(now)).isTrue();
    } finally {
      sleep.destroyForcibly().waitFor();
    }
  }

  @Test
  void aContainerFrozenByAnotherToolIsNotTouched() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data")) {
      Container container = running.resolve();
      Freezer freezer = Freezer.of(container).orElseThrow();
      assertThat(freezer.freeze(LONG)).isTrue();

      StopOutcome outcome = stopper.stop(container, List.of(), LONG);

      assertThat(outcome).isInstanceOf(StopOutcome.NotStopped.class);
      assertThat(freezer.isFrozen()).isTrue();
      assertThat(freezer.thaw(LONG)).isTrue();
    }
  }

  @Test
  void bothFreezersHoldAContainerStill() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data")) {
      Container container = running.resolve();
      List<Freezer> freezers =
          java.util.stream.Stream.of(Freezer.of(container), Freezer.unified(container))
              .flatMap(java.util.Optional::stream)
              .toList();
      assertThat(freezers).isNotEmpty();
      for (Freezer freezer : freezers) {
        awaitTicks(running, running.output().size() + 1);
        assertThat(freezer.freeze(LONG)).isTrue();
        assertThat(freezer.isFrozen()).isTrue();
        long ticks = proc.stat(container.root()).orElseThrow().cpuTicks();
        assertThat(proc.stat(container.root()).orElseThrow().cpuTicks()).isEqualTo(ticks);
        assertThat(freezer.thaw(LONG)).isTrue();
        assertThat(freezer.isFrozen()).isFalse();
      }
      awaitTicks(running, running.output().size() + 1);
    }
  }

  @Test
  void anExecSessionIsReportedAsForeign() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data", "child")) {
      Container container = running.resolve();
      Process exec =
          new ProcessBuilder("runc", "exec", running.id(), "/program", "/data")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      ProcessTree tree = new ProcessTree(proc);

      // runc's own processes come before its program.
      await()
          .atMost(LONG)
          .until(
              () ->
                  tree.listUntilStable(container, 5).foreign().stream()
                      .map(ProcessStat::comm)
                      .toList()
                      .equals(List.of("program")));

      await().atMost(LONG).until(() -> tree.list(container).members().size() == 2);
      assertThat(running.resolve().init()).isEqualTo(container.init());
      new PidFds(proc)
          .open(tree.list(container).foreign().get(0).id())
          .orElseThrow()
          .send(Signal.KILL);
      exec.waitFor();
    }
  }

  @Test
  void aSecondListHasWhatIsInTheCgroupsAndWhatTheFirstOneHad() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data", "child")) {
      Container container = running.resolve();
      ProcessTree tree = new ProcessTree(proc);
      await().atMost(LONG).until(() -> tree.list(container).members().size() == 2);
      List<ProcessId> first = tree.list(container).living();

      assertThat(tree.listAgain(container, List.of()).living()).isEqualTo(first);

      ProcessId child = first.get(1);
      for (Cgroup cgroup : container.cgroups()) {
        Files.writeString(
            cgroup.hierarchy().resolve("cgroup.procs"), Integer.toString(child.pid()));
      }
      assertThat(tree.listAgain(container, List.of()).living()).containsExactly(container.root());
      assertThat(tree.listAgain(container, first).living()).isEqualTo(first);
      assertThat(tree.list(container).living()).isEqualTo(first);
    }
  }

  private StoppedTree stop(Container container) {
    StopOutcome outcome = stopper.stop(container, List.of(), LONG);
    assertThat(outcome).isInstanceOf(StopOutcome.Stopped.class);
    return ((StopOutcome.Stopped) outcome).tree();
  }

  private Container plain(Process process) {
    return ((Resolution.Found) new ContainerResolver(proc).byPid((int) process.pid())).container();
  }

  private static void awaitTicks(TestContainer running, int lines) {
    await().atMost(LONG).until(() -> outputSize(running) >= lines);
  }

  private static int outputSize(TestContainer running) throws IOException {
    return running.output().size();
  }
}
