package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.container.TestPrograms;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a target container brings cannot act with the rights of the agent while it is restored. */
class HostileTargetTest {

  private static final int MIB = 8;

  /** Every program that criu would run, and where it would look for them. */
  private static final List<String> PROGRAMS =
      List.of(
          "iptables",
          "ip6tables",
          "iptables-restore",
          "nft",
          "ip",
          "sh",
          "tar",
          "cp",
          "modprobe",
          "criu");

  private static final List<String> PLACES = List.of("bin", "sbin", "usr/bin", "usr/sbin");

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static ContainerSpec spec;

  @SuppressWarnings("NullAway.Init")
  private static Path artifact;

  @BeforeAll
  static void save() throws InterruptedException {
    lab = new EngineLab(1, 96);
    spec = ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100");
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      artifact = lab.published(Asked.of(lab, source)).artifact().path();
    }
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  private static Path root(GpuContainer container) {
    return Path.of("/proc", "" + container.pid(), "root");
  }

  @Test
  void noProgramOfTheImageRunsDuringARestore() throws Exception {
    Path mark = new TestPrograms().compiled("mark");
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      for (String place : PLACES) {
        Path folder = Files.createDirectories(root(target).resolve(place));
        for (String program : PROGRAMS) {
          Files.copy(mark, folder.resolve(program));
        }
      }

      assertThat(lab.restore(artifact, target)).isInstanceOf(RestoreOutcome.Proven.class);

      target.awaitSteps(2);
      assertThat(namesIn(root(target).resolve("run"))).noneMatch(name -> name.startsWith("ran-"));
      for (String place : PLACES) {
        assertThat(namesIn(root(target).resolve(place))).noneMatch(name -> name.endsWith(".ran"));
      }
    }
  }

  /** A FIFO would hold criu until its deadline, if it opened that path. */
  @Test
  void criusCacheOfKernelFeaturesIsNotReadFromTheContainer() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      new Sh().must("mkfifo", root(target).resolve("run/criu.kdat").toString());

      assertThat(lab.restore(artifact, target)).isInstanceOf(RestoreOutcome.Proven.class);

      target.awaitSteps(2);
      assertThat(namesIn(root(target).resolve("run"))).containsExactly("criu.kdat");
    }
  }

  /** The holder's folder is the workload's to write: a link there must lead the agent nowhere. */
  @Test
  void aLinkInPlaceOfThePidFileIsNotFollowed() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      Path victim = lab.store().resolve("victim");
      Files.writeString(victim, "unharmed");
      Files.createSymbolicLink(target.holderFolder().resolve("workload.pid"), victim);

      assertThat(lab.restore(artifact, target)).isNotInstanceOf(RestoreOutcome.Proven.class);

      assertThat(victim).hasContent("unharmed");
    }
  }

  /** An ephemeral container, or one that shares the namespace of pids. */
  @Test
  void aProcessInTheTargetsPidNamespaceIsRefusedBeforeCriu() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      refusedBeside(target, "nsenter", "--target", "" + target.pid(), "--pid", "sleep", "600");
    }
  }

  /** As an exec session is. */
  @Test
  void aProcessInTheTargetsCgroupIsRefusedBeforeCriu() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      refusedBeside(target, "sh", "-c", joined(target) + "exec sleep 600");
    }
  }

  @Test
  void aProcessThatComesAfterTheCheckIsRefusedBeforeCriu() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      List<Process> started = new ArrayList<>();
      Restore restore =
          new Restore(
              lab.parts(),
              HookedStep.all(
                  Restore.steps(),
                  (moment, step) -> {
                    if (moment == HookedStep.Moment.AFTER && step.equals("unpack")) {
                      started.add(start("sh", "-c", joined(target) + "exec sleep 600"));
                      awaitStranger(target);
                    }
                  }));
      assertThat(EngineLab.restore(restore, artifact, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.step()).isEqualTo("criu-restore");
                assertThat(failed.message()).contains("no processes except", "(sleep)");
              });
      // The undo ends everything in the target, that process too.
      assertThat(started.get(0).waitFor(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** A probe of the kubelet is a process of the container for some milliseconds. */
  @Test
  void aProcessThatEndsByItselfIsWaitedFor() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      Process probe = start("sh", "-c", joined(target) + "exec sleep 2");
      awaitStranger(target);

      assertThat(lab.restore(artifact, target)).isInstanceOf(RestoreOutcome.Proven.class);

      assertThat(probe.isAlive()).isFalse();
    }
  }

  /** As that of a probe, which is no member of the restored tree. */
  @Test
  void aProcessWithTheNumberOfARestoredOneDoesNotTakeItsPlace() throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      // In a pid namespace of its own it has the number 1, as the workload's first process has.
      String probe =
          "sh -c \"%s exec unshare --pid --fork sleep 3\" </dev/null >/dev/null 2>&1 & "
                  .formatted(joined(target).replace("$", "\\$"))
              + "until grep -q . /proc/$!/task/$!/children; do sleep 0.01; done";
      Path runtime =
          new WrappedProgram(lab.folder())
              .followedBy("runtime", EngineLab.runtime(), "/criu/criu restore", probe);

      assertThat(EngineLab.restore(new Restore(LabParts.runtime(lab, runtime)), artifact, target))
          .isInstanceOf(RestoreOutcome.Proven.class);

      target.awaitSteps(2);
    }
  }

  private static void refusedBeside(GpuContainer target, String... command) throws Exception {
    Process stranger = start(command);
    try {
      awaitStranger(target);

      assertThat(lab.restore(artifact, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .anyMatch(
                          unmet ->
                              unmet.wanted().startsWith("no processes except")
                                  && unmet.found().contains("(sleep)")));
    } finally {
      stranger.descendants().forEach(ProcessHandle::destroyForcibly);
      stranger.destroyForcibly();
    }
  }

  private static void awaitStranger(GpuContainer target) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                lab.parts().tree().strangers(container(target)).stream()
                    .anyMatch(stat -> stat.comm().equals("sleep")));
  }

  private static String joined(GpuContainer target) {
    return "echo $$ > '%s/cgroup.procs'; ".formatted(container(target).cgroups().get(0).folder());
  }

  private static Container container(GpuContainer target) {
    return ((Resolution.Found) lab.parts().containers().resolve(target.id())).container();
  }

  private static Process start(String... command) {
    try {
      return new ProcessBuilder(command).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> namesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
