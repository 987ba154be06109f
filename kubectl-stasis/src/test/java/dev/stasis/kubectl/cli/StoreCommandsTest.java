package dev.stasis.kubectl.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.JsonReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class StoreCommandsTest {

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

  private void checkpoint(String name, String store, String status) {
    cluster.objects.add(
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: %s, namespace: ml}
            status: {phase: Ready, artifact: {store: %s, bytes: 3221225472, storedBytes: 1073741824, newBytes: 1048576}, %s}
            """
                .formatted(name, store, status)));
  }

  @Test
  void storesAreListedWithWhatTheyHoldAndWhatItStandsFor() {
    cluster.objects.add(
        Objects.of(
            """
            kind: GpuCheckpointStore
            metadata: {name: chunks}
            spec: {default: true}
            status: {type: S3, capacity: 2.0Ti, used: 13Gi, logical: 60Gi, ratio: "4.6", artifacts: 2, reason: StoreReady}
            """));

    assertThat(run("store", "ls")).isZero();
    assertThat(out.toString().lines().toList().get(1))
        .matches("chunks +S3 +yes +2.0Ti +13Gi +60Gi +4.6 +2 +StoreReady");
  }

  @Test
  void theArtifactsOfAStoreAreListedWithTheirSizesAndStates() {
    checkpoint("good", "chunks", "lastVerified: %s".formatted(Objects.NOW.minusSeconds(3600 * 50)));
    checkpoint(
        "bad",
        "chunks",
        "conditions: [{type: Restorable, status: 'False', reason: ArtifactDamaged, message: m}]");
    checkpoint("elsewhere", "local", "step: x");

    assertThat(run("store", "ls", "chunks")).isZero();
    assertThat(out.toString().lines().toList())
        .hasSize(3)
        .satisfies(
            lines -> {
              assertThat(lines.get(1)).matches("bad +3.0Gi +1.0Gi +1.0Mi +ArtifactDamaged");
              assertThat(lines.get(2)).matches("good +3.0Gi +1.0Gi +1.0Mi +2d +Stored");
            });
  }

  @Test
  void aVerificationIsAskedForByItsTime() {
    checkpoint("train-1", "chunks", "step: x");

    assertThat(run("store", "verify", "gckpt/train-1")).isZero();
    assertThat(cluster.patched)
        .containsExactly(
            "gckpt/train-1 {\"spec\":{\"options\":{\"verifyAfter\":\"%s\"}}}"
                .formatted(Objects.NOW));
    assertThat(run("store", "verify")).isEqualTo(Exit.USAGE);
  }

  @Test
  void aDamagedArtifactEndsTheWaitWithOne() {
    checkpoint("train-1", "chunks", "step: x");
    cluster.events.add(
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: train-1, namespace: ml}
            status: {lastVerified: %s, conditions: [{type: Restorable, status: 'False', reason: ArtifactDamaged, message: "chunk 3 of pages-1.img"}]}
            """
                .formatted(Objects.NOW.plusSeconds(9))));

    assertThat(run("store", "verify", "--store", "chunks", "--wait")).isEqualTo(Exit.FAILED);
    assertThat(out.toString()).contains("gckpt/train-1: damaged: chunk 3 of pages-1.img");
  }

  @Test
  void onlyARemoteStoreIsCollected() {
    cluster.objects.add(
        Objects.of(
            "{kind: GpuCheckpointStore, metadata: {name: local}, spec: {location: {nodeLocal:"
                + " {path: /x}}}}"));
    cluster.objects.add(
        Objects.of(
            "{kind: GpuCheckpointStore, metadata: {name: bucket}, spec: {location: {s3: {bucket:"
                + " b}}}}"));
    cluster.objects.add(
        Objects.of(
            "{kind: GpuCheckpointStore, metadata: {name: claim}, spec: {location:"
                + " {persistentVolumeClaim: {claimName: c}}}}"));

    assertThat(run("store", "gc", "local")).isEqualTo(Exit.FAILED);
    assertThat(cluster.patched).isEmpty();
    assertThat(run("store", "gc", "bucket")).isZero();
    assertThat(run("store", "gc", "claim")).isZero();
    String patch = "{\"spec\":{\"options\":{\"collectAfter\":\"%s\"}}}".formatted(Objects.NOW);
    assertThat(cluster.patched).containsExactly("gstore/bucket " + patch, "gstore/claim " + patch);
  }
}
