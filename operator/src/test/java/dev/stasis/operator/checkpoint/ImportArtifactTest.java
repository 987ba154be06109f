package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DeletionPolicy;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** An artifact that lies in a store already becomes a GpuCheckpoint. */
class ImportArtifactTest {

  private static final String PLACE = "ml/old-uid-0";
  private static final long BYTES = 4096;
  private static final Quota TOO_SMALL = new Quota(new Quantity("4095"), null, null);

  private static World world(Consumer<GpuCheckpointSpec> more) {
    return Samples.world(
        spec -> {
          spec.setImportFrom(new ImportSource("trainer", PLACE, "gpu-17", "a".repeat(64)));
          more.accept(spec);
        });
  }

  static World world() {
    return world(spec -> {});
  }

  private static World imported(Consumer<GpuCheckpointSpec> more) {
    World world = world(more).settle();
    says(world);
    return world.settle();
  }

  /** The agent has read all of it. */
  static void says(World world) {
    GpuNodeOperation operation = world.operation(OperationType.IMPORT, 1).orElseThrow();
    world.agent(OperationType.IMPORT, 1).expects(BYTES).succeeds(WorkloadState.UNKNOWN);
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("local");
    artifact.setNode("gpu-17");
    artifact.setLocation(PLACE);
    artifact.setBytes(BYTES);
    artifact.setSha256("a".repeat(64));
    artifact.setUid("uid-0");
    artifact.setNamespaceUid("namespace-1");
    operation.getStatus().setArtifact(artifact);
    operation.getStatus().setContainerName("main");
    operation.getStatus().setPodTemplate(ImportReportTest.pod(Map.of()));
  }

  @Test
  void anImportNeedsNoPodAndTouchesNone() {
    World world = imported(spec -> {});

    assertThat(world.marks).isEmpty();
    assertThat(world.asked).isEmpty();
    assertThat(world.stories).allMatch(story -> story.about() instanceof GpuCheckpoint);
    assertThat(world.condition("SourceRunning")).isEqualTo("none");
  }

  @Test
  void theAgentIsToldWhereItLiesAndWhatHasToBeInIt() {
    World world = world(spec -> spec.getOptions().setContainerName("main")).settle();

    var order = world.operation(OperationType.IMPORT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(order.getPod()).isNull();
    assertThat(order.getArtifact())
        .isEqualTo(new ArtifactReference("local", PLACE, "ml", "uid-1", "a".repeat(64)));
    assertThat(Objects.requireNonNull(order.getExpected()).podName()).isEqualTo("trainer");
    assertThat(order.getExpected().containerName()).isEqualTo("main");
    assertThat(order.getExpected().namespaceUid()).isEqualTo("namespace-1");
    assertThat(world.condition("Ready")).startsWith("False/WaitingForAgent");
  }

  @Test
  void itIsReadyOnlyOnceEveryByteWasChecked() {
    World world = world().settle();
    world.agent(OperationType.IMPORT, 1).expects(BYTES).works("verify", WorkloadState.UNKNOWN);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.IMPORTING);
    assertThat(world.condition("Ready")).startsWith("False/InProgress");
    assertThat(world.status().getArtifact()).isNull();

    says(world);
    world.settle();

    assertThat(Objects.requireNonNull(world.status().getPhases()))
        .extracting(PhaseTime::phase)
        .containsExactly(CheckpointPhase.PENDING, CheckpointPhase.IMPORTING, CheckpointPhase.READY);
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified: 4.0Ki in store local");
    assertThat(world.condition("Restorable")).startsWith("True/NodesFit");
    GpuCheckpointStatus status = world.status();
    assertThat(Objects.requireNonNull(status.getArtifact()).getUid()).isEqualTo("uid-0");
    assertThat(status.getArgv()).containsExactly("python", "train.py");
    assertThat(status.getPodTemplate()).containsKey("metadata");
    assertThat(Objects.requireNonNull(status.getPod()).container()).isEqualTo("main");
    assertThat(Objects.requireNonNull(status.getHardware()).fingerprint()).isNotNull();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void oneThatIsRefusedIsNeverDeleted() {
    World world = world().settle();
    world
        .agent(OperationType.IMPORT, 1)
        .works("verify", WorkloadState.UNKNOWN)
        .fails(Outcome.REFUSED, "ArtifactRefused", ConditionValue.UNKNOWN);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Ready")).startsWith("False/NotImported: p: expected w, got f");
    assertThat(world.condition("Failed")).startsWith("True/NotImported");

    world.delete();
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  @Test
  void aDeletionTakesTheArtifactWithItUnderTheUidThatItHas() {
    World world = imported(spec -> {});
    world.delete();
    world.settle();

    var order = world.operation(OperationType.DELETE_ARTIFACT, 1).orElseThrow().getSpec();
    assertThat(order.getArtifact())
        .isEqualTo(new ArtifactReference("local", PLACE, "ml", "uid-0", "a".repeat(64)));
  }

  @Test
  void oneThatIsToBeRetainedStays() {
    World world = imported(spec -> spec.getOptions().setDeletionPolicy(DeletionPolicy.RETAIN));
    world.delete();
    world.settle();
    world.agent(OperationType.RETAIN_ARTIFACT, 1).succeeds(WorkloadState.UNKNOWN);
    world.settle();

    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  @Test
  void aDeletionAtWorkEndsTheCheckAndLeavesTheArtifact() {
    World world = world().settle();
    world.agent(OperationType.IMPORT, 1).works("verify", WorkloadState.UNKNOWN);
    world.settle();
    world.delete();
    world.settle();
    assertThat(world.operation(OperationType.IMPORT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();

    // It was through before it heard of that.
    says(world);
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isEmpty();
  }

  @Test
  void itIsCancelledBeforeAndAtWork() {
    World before = world(spec -> spec.getOptions().setCancel(true)).settle();
    assertThat(before.phase()).isEqualTo(CheckpointPhase.CANCELLED);
    assertThat(before.operations()).isEmpty();

    World atWork = world().settle();
    atWork.agent(OperationType.IMPORT, 1).works("verify", WorkloadState.UNKNOWN);
    atWork.settle();
    atWork.checkpoint.getSpec().getOptions().setCancel(true);
    atWork.settle();
    atWork.agent(OperationType.IMPORT, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    atWork.settle();
    assertThat(atWork.phase()).isEqualTo(CheckpointPhase.CANCELLED);
    assertThat(atWork.status().getArtifact()).isNull();
  }

  @Test
  void theArtifactOfAnotherNamespaceIsNotEvenLookedAt() {
    World world =
        world(
                spec ->
                    spec.setImportFrom(new ImportSource("trainer", "hr/old-uid-0", "gpu-17", null)))
            .settle();

    assertThat(world.condition("Ready"))
        .startsWith(
            "False/OtherNamespace: importFrom.location: expected ml/NAME, of its own namespace");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aStoreOnTheDiskOfEachNodeWantsTheNode() {
    World world = world(spec -> spec.setImportFrom(new ImportSource("trainer", PLACE, null, null)));
    assertThat(world.settle().condition("Ready"))
        .startsWith("False/NotImported: importFrom.nodeName: expected the node whose disk");

    World unknown =
        world(spec -> spec.setImportFrom(new ImportSource("trainer", PLACE, "gpu-99", null)));
    assertThat(unknown.settle().condition("Ready"))
        .startsWith(
            "False/NodeGone: importFrom.nodeName: expected a node of this cluster, got gpu-99");
  }

  @Test
  void aSharedStoreIsReadByAnyNodeThatReachesIt() {
    World world = world(spec -> spec.setImportFrom(new ImportSource("trainer", PLACE, null, null)));
    world.cluster.stores.get(0).getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/nfs")));
    world.settle();

    assertThat(world.operation(OperationType.IMPORT, 1).orElseThrow().getSpec().getNodeName())
        .isEqualTo("gpu-17");
  }

  @Test
  void anArtifactOfAnotherObjectIsRefused() {
    World place = world();
    GpuCheckpoint other = other("other", "uid-9", null);
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("local");
    artifact.setNode("gpu-17");
    artifact.setLocation(PLACE);
    other.getStatus().setArtifact(artifact);
    place.cluster.checkpoints.add(other);
    assertThat(place.settle().condition("Ready"))
        .startsWith("False/AlreadyImported")
        .contains("GpuCheckpoint other");

    World elsewhere = world();
    artifact.setNode("gpu-18");
    elsewhere.cluster.checkpoints.add(other);
    elsewhere.settle();
    says(elsewhere);
    assertThat(elsewhere.settle().phase())
        .as("the copy on another node")
        .isEqualTo(CheckpointPhase.READY);
  }

  @Test
  void theArtifactOfALivingObjectIsRefusedOnceTheAgentHasSaidWhoseItIs() {
    World world = world().settle();
    world.cluster.checkpoints.add(other("maker", "uid-0", null));
    says(world);
    assertThat(world.settle().condition("Ready"))
        .startsWith("False/AlreadyImported")
        .contains("GpuCheckpoint maker");
    assertThat(world.status().getArtifact()).isNull();

    World migrated = world().settle();
    GpuMigration migration = new GpuMigration();
    migration.setMetadata(
        new ObjectMetaBuilder().withNamespace("ml").withName("mig").withUid("uid-0").build());
    migrated.cluster.migrations.add(migration);
    says(migrated);
    assertThat(migrated.settle().condition("Ready")).contains("GpuMigration mig");
  }

  @Test
  void ofTwoThatWantTheSameTheOlderHasIt() {
    World younger = world();
    younger.cluster.checkpoints.add(
        other("older", "uid-0a", World.START.minusSeconds(60).toString()));
    assertThat(younger.settle().condition("Ready")).startsWith("False/AlreadyImported");

    World older = world();
    older.cluster.checkpoints.add(
        other("younger", "uid-0a", World.START.plusSeconds(60).toString()));
    older.settle();
    says(older);
    assertThat(older.settle().phase()).isEqualTo(CheckpointPhase.READY);

    World again = world();
    GpuCheckpoint failed = other("failed", "uid-0a", World.START.minusSeconds(60).toString());
    failed.getStatus().setPhase(CheckpointPhase.FAILED);
    again.cluster.checkpoints.add(failed);
    assertThat(again.settle().operations()).as("beside one that was refused").hasSize(1);
  }

  @Test
  void anImportBeyondTheQuotaIsCancelledOnceItsSizeIsKnown() {
    World early = world();
    early.cluster.stores.get(0).getSpec().setQuota(TOO_SMALL);
    early.settle();
    early.agent(OperationType.IMPORT, 1).expects(BYTES).works("verify", WorkloadState.UNKNOWN);
    early.settle();
    assertThat(early.operation(OperationType.IMPORT, 1).get().getSpec().getCancel()).isTrue();
    early.agent(OperationType.IMPORT, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    assertThat(early.settle().condition("Ready")).startsWith("False/QuotaExceeded");

    World late = world().settle();
    late.cluster.stores.get(0).getSpec().setQuota(TOO_SMALL);
    says(late);
    assertThat(late.settle().condition("Ready")).startsWith("False/QuotaExceeded");
    assertThat(late.status().getArtifact()).isNull();
  }

  @Test
  void anAgentThatNeverComesEndsItWithTheDeadline() {
    World world = world().settle();
    world.later(Duration.ofMinutes(31));
    world.settle();

    assertThat(world.condition("Ready")).startsWith("False/DeadlineExceeded");
    assertThat(world.operations()).isEmpty();
  }

  private static GpuCheckpoint other(
      String name, String uid, @org.jspecify.annotations.Nullable String importsSince) {
    GpuCheckpoint other = new GpuCheckpoint();
    other.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("ml")
            .withName(name)
            .withUid(uid)
            .withCreationTimestamp(importsSince)
            .build());
    other.setSpec(new GpuCheckpointSpec());
    other.getSpec().setPodRef(PodReference.of("trainer"));
    if (importsSince != null) {
      other.getSpec().setImportFrom(new ImportSource("trainer", PLACE, "gpu-17", null));
    }
    other.setStatus(new GpuCheckpointStatus());
    return other;
  }
}
