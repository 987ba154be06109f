package dev.stasis.kubectl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.JsonReader;
import dev.stasis.kubectl.cluster.Resource;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CommandsTest {

  private final FakeCluster cluster = new FakeCluster();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private List<String> connection = List.of();

  @BeforeEach
  void empty() {
    out.getBuffer().setLength(0);
  }

  private int run(String... arguments) {
    return KubectlStasis.run(
        new Session(
            options -> {
              connection = options;
              return cluster;
            },
            new Terminal(new PrintWriter(out, true), new PrintWriter(err, true), false),
            Clock.fixed(Objects.NOW, ZoneOffset.UTC),
            new JsonReader()),
        arguments);
  }

  private static Resource suspension(String suspend, String phase) {
    return Objects.of(
        """
        kind: GpuCheckpoint
        metadata: {name: nap, namespace: ml}
        spec: {podRef: {name: trainer}, afterCheckpoint: Suspend, desiredState: %s}
        status: {phase: %s}
        """
            .formatted(suspend, phase));
  }

  @Test
  void aCheckpointIsRequestedWithTheFieldsOfTheApi() {
    int exit =
        run(
            "checkpoint",
            "pod/trainer",
            "--after",
            "evict",
            "--probes=emulate",
            "--retain",
            "--ttl=168h",
            "-c",
            "main",
            "-n",
            "ml",
            "--context",
            "prod");
    assertThat(exit).isZero();
    assertThat(cluster.created.get(0))
        .isEqualTo(
            Objects.json(
                """
                apiVersion: stasis.dev/v1beta1
                kind: GpuCheckpoint
                metadata: {generateName: trainer-}
                spec: {podRef: {name: trainer}, afterCheckpoint: Evict, options: {containerName: main, probePolicy: Emulate, ttlAfterReady: 168h, deletionPolicy: Retain}}
                """));
    assertThat(connection).containsExactly("--namespace=ml", "--context=prod");
    assertThat(out.toString().strip()).isEqualTo("gckpt/trainer-x7k2p created");
  }

  @Test
  void waitingEndsWithTheOutcomeAndItsExitCode() {
    cluster.events.add(
        Objects.of(
            "{kind: GpuCheckpoint, metadata: {name: a, namespace: ml}, status: {phase:"
                + " Freezing}}"));
    cluster.events.add(Objects.checkpoint());
    assertThat(run("checkpoint", "trainer", "--wait")).isZero();
    assertThat(out.toString())
        .contains("gckpt/train-1: Ready, 48.9Gi, frozen for 14.1s, on gpu-17")
        .contains("restore it: kubectl stasis restore train-1 -n ml");
    assertThat(err.toString()).contains("gckpt/a  Freezing");
  }

  @Test
  void aFailureThatWasWaitedForEndsWithOne() {
    cluster.events.add(
        Objects.of(
            "{kind: GpuCheckpoint, metadata: {name: a, namespace: ml}, status: {phase: Failed,"
                + " faults: [{reason: NoRoom, message: m}]}}"));
    assertThat(run("checkpoint", "trainer", "--wait")).isEqualTo(Exit.FAILED);
    assertThat(out.toString()).contains("- NoRoom: m");
  }

  @Test
  void noControlCharacterOfAMessageReachesTheTerminal() {
    cluster.events.add(
        Objects.of(
            """
            {kind: GpuCheckpoint, metadata: {name: a, namespace: ml}, status: {phase: Failed,
             faults: [{reason: NoRoom, message: "process \\e[2J\\e]0;root\\a"}]}}
            """));
    assertThat(run("checkpoint", "trainer", "--wait")).isEqualTo(Exit.FAILED);
    assertThat(out.toString()).contains("- NoRoom: process ?[2J?]0;root?").doesNotContain("\u001b");
  }

  @Test
  void aTimedOutWaitReportsThatTheRequestContinues() {
    assertThat(run("checkpoint", "trainer", "--wait", "--timeout", "0s")).isEqualTo(Exit.NOT_YET);
    assertThat(err.toString()).contains("not finished after 0s; it continues");
  }

  @Test
  void wrongUseNamesTheExpectedArguments() {
    assertThat(run("checkpoint", "gckpt/a")).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("expected the name of a Pod, got gckpt/a");
    assertThat(run("checkpoint", "a", "--wait", "--timeout", "soon")).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("--timeout: expected a time like 90s, 10m or 2h, got soon");
  }

  @Test
  void anImportNamesThePlaceAndWhatHasToBeThere() {
    int exit =
        run(
            "import",
            "ml/train-1-6f1c",
            "--pod=trainer",
            "--node=gpu-17",
            "--name=train-2",
            "--store=nfs",
            "--sha256=9ab1",
            "--retain");
    assertThat(exit).isZero();
    assertThat(cluster.created.get(0))
        .isEqualTo(
            Objects.json(
                """
                apiVersion: stasis.dev/v1beta1
                kind: GpuCheckpoint
                metadata: {name: train-2, namespace: ml}
                spec: {storageRef: {name: nfs}, importFrom: {podName: trainer, location: ml/train-1-6f1c, nodeName: gpu-17, sha256: 9ab1}, options: {deletionPolicy: Retain}}
                """));
  }

  @Test
  void anImportFromOutsideOfAStoreIsWrongUse() {
    for (String location : List.of("../x", "ml", "ml/../x", "/ml/x", "ml/a/b", "ml/..")) {
      assertThat(run("import", location, "--pod=trainer")).isEqualTo(Exit.USAGE);
      assertThat(err.toString()).contains("expected NAMESPACE/FOLDER", "got " + location);
    }
    assertThat(run("import", "ml/x")).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("--pod=POD");
    assertThat(cluster.created).isEmpty();
  }

  @Test
  void aMigrationNamesItsTarget() {
    assertThat(run("migrate", "trainer", "--to", "gpu-22", "--node-selector", "zone=a")).isZero();
    assertThat(cluster.created.get(0).path("spec"))
        .isEqualTo(
            Objects.json(
                "{podRef: {name: trainer}, target: {nodeName: gpu-22, nodeSelector: {zone: a}}}"));
  }

  @Test
  void aPodThatCannotExistTwiceIsRecreated() {
    assertThat(run("migrate", "trainer-0", "--strategy", "recreate", "--store", "shared")).isZero();
    assertThat(cluster.created.get(0).path("spec"))
        .isEqualTo(
            Objects.json(
                "{podRef: {name: trainer-0}, storageRef: {name: shared}, strategy: Recreate}"));
  }

  @Test
  void aPodIsSuspendedAgainByTheObjectThatDidItBefore() {
    cluster.objects.add(suspension("Running", "Pending"));
    assertThat(run("suspend", "trainer")).isZero();
    assertThat(cluster.created).isEmpty();
    assertThat(cluster.patched)
        .containsExactly("gckpt/nap {\"spec\":{\"desiredState\":\"Suspended\"}}");
  }

  @Test
  void optionsOrAnotherPodWithTheNameNeedANewObject() {
    cluster.objects.add(suspension("Running", "Pending"));
    assertThat(run("suspend", "trainer", "--store", "nfs")).isZero();
    assertThat(cluster.created.get(0).at("/spec/storageRef/name").asText()).isEqualTo("nfs");

    cluster.objects.set(
        0,
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: nap, namespace: ml}
            spec: {podRef: {name: trainer}, afterCheckpoint: Suspend, desiredState: Running}
            status: {phase: Pending, pod: {name: trainer, uid: old}}
            """));
    cluster.objects.add(Objects.of("{kind: Pod, metadata: {name: trainer, uid: new}}"));
    assertThat(run("suspend", "trainer")).isZero();
    assertThat(cluster.created).hasSize(2);
    assertThat(cluster.patched).isEmpty();
  }

  @Test
  void aPodIsNotSuspendedTwice() {
    cluster.objects.add(suspension("Suspended", "Suspended"));
    assertThat(run("suspend", "trainer")).isZero();
    assertThat(run("suspend", "trainer", "--store", "nfs")).isEqualTo(Exit.FAILED);
    assertThat(err.toString()).contains("resume it first");
    assertThat(cluster.created).isEmpty();
    assertThat(cluster.patched).isEmpty();
  }

  @Test
  void aPodIsResumedByItsNameOrThatOfTheCheckpoint() {
    cluster.objects.add(suspension("Suspended", "Suspended"));
    assertThat(run("resume", "trainer")).isZero();
    assertThat(run("resume", "gckpt/nap")).isZero();
    assertThat(cluster.patched)
        .containsExactly(
            "gckpt/nap {\"spec\":{\"desiredState\":\"Running\"}}",
            "gckpt/nap {\"spec\":{\"desiredState\":\"Running\"}}");
  }

  @Test
  void resumingAPodThatIsNotSuspendedFails() {
    assertThat(run("resume", "trainer")).isEqualTo(Exit.CLUSTER);
    assertThat(err.toString())
        .contains("no GpuCheckpoint suspends trainer")
        .contains("kubectl stasis list");
  }

  @Test
  void aRequestInProgressIsCancelled() {
    Resource freezing =
        Objects.of(
            "{kind: GpuMigration, metadata: {name: move, namespace: ml}, spec: {podRef: {name: a}},"
                + " status: {phase: Freezing}}");
    cluster.objects.add(freezing);
    assertThat(run("cancel", "move")).isZero();
    assertThat(cluster.patched)
        .containsExactly("gmig/move {\"spec\":{\"options\":{\"cancel\":true}}}");
  }

  @Test
  void aCancelledRequestWhoseWorkloadIsLostIsAFailure() {
    String yaml =
        "{kind: GpuMigration, metadata: {name: move, namespace: ml}, spec: {podRef: {name: a}},"
            + " status: {phase: %s}}";
    cluster.objects.add(Objects.of(yaml.formatted("Freezing")));
    cluster.events.add(Objects.of(yaml.formatted("Failed")));
    assertThat(run("cancel", "move", "--wait")).isEqualTo(Exit.FAILED);
    cluster.events.add(Objects.of(yaml.formatted("Succeeded")));
    assertThat(run("cancel", "move", "--wait")).isEqualTo(Exit.FAILED);
    cluster.events.add(Objects.of(yaml.formatted("RolledBack")));
    assertThat(run("cancel", "move", "--wait")).isZero();
  }

  @Test
  void aFinishedRequestCannotBeCancelled() {
    cluster.objects.add(Objects.checkpoint());
    assertThat(run("cancel", "train-1")).isEqualTo(Exit.FAILED);
    assertThat(cluster.patched).isEmpty();
    assertThat(err.toString()).contains("got phase Ready");
  }

  @Test
  void anExplanationLeavesNothingBehind() {
    cluster.events.add(
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: e, namespace: ml}
            spec: {podRef: {name: trainer}, options: {dryRun: true}}
            status: {phase: Explained, conditions: [{type: Feasible, status: "True"}]}
            """));
    assertThat(run("explain", "trainer")).isZero();
    assertThat(out.toString()).startsWith("trainer can be frozen.");
    assertThat(cluster.deleted).containsExactly("gckpt/trainer-explain-x7k2p");
  }

  @Test
  void listPrintsAsKubectlDoesForPrograms() {
    assertThat(run("list", "-o", "yaml")).isZero();
    assertThat(out.toString())
        .startsWith("yaml of gpucheckpoints.stasis.dev,gpurestores.stasis.dev,gpumigrations");
  }

  @Test
  void theDoctorEndsWithOneWhenSomethingIsWrong() {
    cluster.objects.add(Objects.node());
    assertThat(run("doctor")).isEqualTo(Exit.FAILED);
    assertThat(out.toString())
        .contains("problem  cluster: operator: expected its Deployment, got none")
        .contains("well     gpu-17: 2 x NVIDIA H200")
        .contains("1 problems, 1 warnings");
  }

  @Test
  void completionKnowsCommandsOptionsAndNames() {
    cluster.objects.add(Objects.checkpoint());
    run("__complete", "ch");
    run("__complete", "restore", "--de");
    run("__complete", "restore", "-n", "ml", "tr");
    assertThat(out.toString().lines())
        .containsExactly("checkpoint", ":4", "--deadline", ":4", "train-1", ":4");
  }

  @Test
  void topWithoutATerminalIsPrintedOnce() {
    cluster.objects.add(Objects.node());
    assertThat(run("top")).isZero();
    assertThat(out.toString()).startsWith("stasis   nodes 1   gpus 2");
  }
}
