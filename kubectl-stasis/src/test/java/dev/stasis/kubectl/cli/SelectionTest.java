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
import org.junit.jupiter.api.Test;

/** -l, --all and -w, as users know them from kubectl. */
class SelectionTest {

  private final FakeCluster cluster = new FakeCluster();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    return KubectlStasis.run(
        new Session(
            options -> cluster,
            new Terminal(new PrintWriter(out, true), new PrintWriter(err, true), false),
            Clock.fixed(Objects.NOW, ZoneOffset.UTC),
            new JsonReader()),
        arguments);
  }

  private static Resource request(String kind, String name, String spec, String phase) {
    return Objects.of(
        """
        kind: %s
        metadata: {name: %s, namespace: ml, uid: %s}
        spec: {podRef: {name: of-%s}, %s}
        status: {phase: %s}
        """
            .formatted(kind, name, name, name, spec, phase));
  }

  @Test
  void everyRequestInProgressIsCancelledAndNoOther() {
    cluster.objects.add(request("GpuMigration", "move", "x: y", "Freezing"));
    cluster.objects.add(request("GpuCheckpoint", "done", "x: y", "Ready"));
    cluster.objects.add(request("GpuRestore", "back", "x: y", "Pending"));

    assertThat(run("cancel", "--all")).isZero();

    assertThat(cluster.patched)
        .containsExactly(
            "gmig/move {\"spec\":{\"options\":{\"cancel\":true}}}",
            "grst/back {\"spec\":{\"options\":{\"cancel\":true}}}");
    assertThat(out.toString().lines())
        .containsExactly("gmig/move is being cancelled", "grst/back is being cancelled");
  }

  @Test
  void aSelectorIsKubectlsOwn() {
    cluster.objects.add(request("GpuMigration", "move", "x: y", "Freezing"));
    assertThat(run("cancel", "-l", "team=a", "--dry-run")).isZero();
    assertThat(run("resume", "--selector", "team=b")).isZero();
    assertThat(run("list", "-l", "team=c")).isZero();
    assertThat(run("store", "verify", "-l", "team=d")).isZero();
    assertThat(cluster.selections)
        .containsExactly(
            List.of("--selector=team=a"),
            List.of("--selector=team=b"),
            List.of("--selector=team=c"),
            List.of("--selector=team=d"));
    assertThat(cluster.patched).isEmpty();
  }

  @Test
  void severalAreNamedAtOnceAndOneThatIsFinishedIsReported() {
    cluster.objects.add(request("GpuMigration", "move", "x: y", "Freezing"));
    cluster.objects.add(request("GpuCheckpoint", "done", "x: y", "Ready"));

    assertThat(run("cancel", "done", "gmig/move")).isEqualTo(Exit.FAILED);

    assertThat(cluster.patched).hasSize(1);
    assertThat(err.toString()).contains("gckpt/done: expected a request in progress");
  }

  @Test
  void everySuspendedPodIsResumedExceptThoseOfAQueue() {
    cluster.objects.add(request("GpuCheckpoint", "nap", "afterCheckpoint: Suspend", "Suspended"));
    cluster.objects.add(
        request(
            "GpuCheckpoint",
            "turn",
            "afterCheckpoint: Suspend, options: {timeSlice: 10m}",
            "Suspended"));
    cluster.objects.add(
        request(
            "GpuCheckpoint", "runs", "afterCheckpoint: Suspend, desiredState: Running", "Pending"));

    assertThat(run("resume", "--all")).isZero();

    assertThat(cluster.patched)
        .containsExactly("gckpt/nap {\"spec\":{\"desiredState\":\"Running\"}}");
    assertThat(run("resume", "of-turn")).isZero();
    assertThat(cluster.patched).hasSize(2);
  }

  @Test
  void namesAndASelectionExcludeEachOther() {
    cluster.objects.add(request("GpuMigration", "move", "x: y", "Freezing"));
    for (List<String> wrong :
        List.of(
            List.of("cancel"),
            List.of("cancel", "move", "--all"),
            List.of("cancel", "--all", "-l", "a=b"),
            List.of("resume"),
            List.of("resume", "pod", "-l", "a=b"),
            List.of("store", "verify"),
            List.of("store", "verify", "a", "--store", "b"))) {
      assertThat(run(wrong.toArray(String[]::new))).as(wrong.toString()).isEqualTo(Exit.USAGE);
    }
    assertThat(err.toString()).contains("expected names, -l SELECTOR or --all, got none");
    assertThat(cluster.patched).isEmpty();
  }

  /** Freezing every pod of a namespace by a slip would be worse than the typing it saves. */
  @Test
  void whatFreezesAPodTakesItsName() {
    for (String command : List.of("checkpoint", "suspend", "migrate")) {
      assertThat(run(command, "--all")).isEqualTo(Exit.USAGE);
      assertThat(run(command, "-l", "a=b")).isEqualTo(Exit.USAGE);
    }
    assertThat(cluster.created).isEmpty();
  }

  @Test
  void aWatchedListPrintsEachChangeBelow() {
    cluster.objects.add(request("GpuCheckpoint", "train-1", "x: y", "Freezing"));
    cluster.events.add(request("GpuCheckpoint", "train-1", "x: y", "Saving"));
    cluster.events.add(request("GpuMigration", "move", "x: y", "Pending"));

    assertThat(run("list", "-w")).isEqualTo(Exit.CLUSTER);

    assertThat(out.toString().lines())
        .containsExactly(
            "NAME            POD          NODE   PHASE      SIZE   TIME   AGE   REASON",
            "gckpt/train-1   of-train-1          Freezing",
            "gckpt/train-1   of-train-1          Saving",
            "gmig/move       of-move             Pending");
    assertThat(err.toString()).contains("connection lost");
  }

  @Test
  void aWatchedListThatWasEmptyGetsItsHeaderLater() {
    cluster.events.add(request("GpuMigration", "move", "x: y", "Pending"));
    assertThat(run("list", "--watch")).isEqualTo(Exit.CLUSTER);
    assertThat(out.toString()).startsWith("NAME").contains("\ngmig/move");
    assertThat(run("list", "-w", "-o", "json")).isEqualTo(Exit.USAGE);
  }

  @Test
  void waitHasNoShortForm() {
    assertThat(run("checkpoint", "trainer", "-w")).isEqualTo(Exit.USAGE);
    assertThat(cluster.created).isEmpty();
  }
}
