package dev.stasis.operator.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.store.AllowedNamespaces;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.NamespaceQuota;
import dev.stasis.api.v1beta1.store.NamespaceUsage;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StoreTest {

  private static final long GIB = 1L << 30;
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-21T10:00:00Z"), ZoneOffset.UTC);
  private static final Namespace ML = namespace("ml", "research");

  private final StoreChoice choice = new StoreChoice();
  private final StoreRoom room = new StoreRoom();

  @Test
  void theOneDefaultIsUsedWhereNoStoreIsNamed() {
    GpuCheckpointStore local = store("local", true);

    assertThat(choice.choose(null, ML, List.of(local, store("other", false))))
        .isEqualTo(new StoreChoice.Chosen(local));
  }

  @Test
  void noDefaultAndTwoDefaultsAreRefusedWithTheNames() {
    assertThat(refusal(null, store("other", false)))
        .isEqualTo(
            "store: expected a name, or a GpuCheckpointStore marked as default, got only [other]");
    assertThat(refusal(null, store("b", true), store("a", true)))
        .isEqualTo(
            "store: expected a name, or one GpuCheckpointStore marked as default, got [a, b]");
    assertThat(refusal("gone")).isEqualTo("store: expected gone, got no GpuCheckpointStore");
  }

  @Test
  void aStoreIsForTheNamespacesThatItNamesOrSelects() {
    GpuCheckpointStore store = store("local", false);
    store.getSpec().setAllowedNamespaces(new AllowedNamespaces(List.of("web"), null));
    assertThat(refusal("local", store))
        .isEqualTo(
            "store: expected one whose allowedNamespaces include ml, got local, whose do not");

    store
        .getSpec()
        .setAllowedNamespaces(
            new AllowedNamespaces(
                null, new LabelSelectorBuilder().addToMatchLabels("team", "research").build()));
    assertThat(choice.choose("local", ML, List.of(store))).isEqualTo(new StoreChoice.Chosen(store));
  }

  @Test
  void anArtifactBeingWrittenCountsAgainstTheQuota() {
    GpuCheckpointStore store = store("local", true);
    store
        .getSpec()
        .setQuota(
            new Quota(
                new Quantity("20Gi"),
                new Quantity("8Gi"),
                List.of(new NamespaceQuota("web", new Quantity("4Gi")))));
    StoreFacts facts =
        facts(store, List.of(checkpoint("ml", "a", 4 * GIB)))
            .with(List.of(making("ml", "b", GIB), making("ml", "a", 4 * GIB)));

    assertThat(sentences(room.against(facts, "ml", "node1", 3 * GIB))).isEmpty();
    assertThat(sentences(room.against(facts, "ml", "node1", 3 * GIB + 1)))
        .containsExactly(
            "store local quota of namespace ml: expected room for 3.0Gi more within 8.0Gi, got"
                + " 5.0Gi used");
    assertThat(sentences(room.against(facts, "web", "node1", 16 * GIB)))
        .containsExactly(
            "store local quota.total: expected room for 16.0Gi more within 20.0Gi, got 5.0Gi"
                + " used",
            "store local quota of namespace web: expected room for 16.0Gi more within 4.0Gi, got 0"
                + " used");
  }

  @Test
  void aDiskThatWouldNotKeepItsFreePartIsRefusedBeforeTheFreeze() {
    StoreFacts facts = facts(store("local", true), List.of());

    assertThat(room.against(facts, "ml", "node1", 30 * GIB)).isEmpty();
    assertThat(sentences(room.against(facts, "ml", "node1", 30 * GIB + 1)))
        .containsExactly(
            "store local on node node1: expected 30.0Gi free beside the 20.0Gi kept free, got"
                + " 30.0Gi");
  }

  @Test
  void anArtifactBeingWrittenCountsAgainstTheDisk() {
    StoreFacts facts =
        facts(store("local", true), List.of()).with(List.of(making("web", "b", 20 * GIB)));

    assertThat(room.against(facts, "ml", "node1", 10 * GIB)).isEmpty();
    assertThat(sentences(room.against(facts, "ml", "node1", 11 * GIB)))
        .containsExactly(
            "store local on node node1: expected 11.0Gi free beside the 20.0Gi kept free, got"
                + " 10.0Gi");
  }

  @Test
  void aNodeThatCannotWriteReportsTheCause() {
    StoreFacts facts = facts(store("local", true), List.of());

    assertThat(sentences(room.against(facts, "ml", "node2", GIB)))
        .containsExactly(
            "store local: expected one that node node2 can write to, got read-only file system");
    assertThat(sentences(room.against(facts, "ml", "node3", GIB)))
        .containsExactly(
            "store local: expected one that node node3 can write to, got no report by the agent of"
                + " the node");
  }

  @Test
  void theStatusSaysWhatLiesThereAndForWhom() {
    GpuCheckpointStoreStatus status =
        status(store("local", true), checkpoint("ml", "a", 4 * GIB), checkpoint("web", "a", GIB));

    assertThat(status.getType()).isEqualTo("NodeLocal");
    assertThat(status.getUsed()).isEqualTo("7.0Gi");
    assertThat(status.getFree()).isEqualTo("0");
    assertThat(status.getCapacity()).as("both disks").isEqualTo("200.0Gi");
    assertThat(status.getLogical()).isEqualTo("7.0Gi");
    assertThat(status.getArtifacts()).isEqualTo(3);
    assertThat(status.getNamespaces())
        .containsExactly(
            new NamespaceUsage("ml", 4 * GIB, "4.0Gi", 1),
            new NamespaceUsage("web", GIB, "1.0Gi", 1));
    assertThat(status.getNodes()).hasSize(2);
    assertThat(ready(status).status()).isEqualTo(ConditionValue.TRUE);
    assertThat(ready(status).message()).isEqualTo("1 of 2 nodes can write to it");
    assertThat(status.getReason()).isEqualTo("StoreReady");
  }

  @Test
  void aSharedFolderIsCountedOnce() {
    GpuCheckpointStore store = store("nfs", false);
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/nfs")));

    assertThat(status(store).getUsed()).isEqualTo("6.0Gi");
    assertThat(status(store).getType()).isEqualTo("SharedPath");
  }

  @Test
  void twoDefaultsAreNotReadyAndNameEachOther() {
    GpuCheckpointStoreStatus status = new GpuCheckpointStoreStatus();
    GpuCheckpointStore a = store("a", true);
    new StoreStatus(CLOCK)
        .write(facts(a, List.of()), List.of(a, store("b", true)), Map.of(), status);

    assertThat(ready(status).status()).isEqualTo(ConditionValue.FALSE);
    assertThat(ready(status).reason()).isEqualTo("SeveralDefaults");
    assertThat(status.getConditions())
        .as("only the user can correct it")
        .anyMatch(it -> it.type().equals("Stalled"));
    assertThat(ready(status).message())
        .isEqualTo(
            "default: expected one GpuCheckpointStore, got [a, b]; each can only be used by its"
                + " name");
  }

  /** A cluster may have no GPU node until a pod needs one. */
  @Test
  void nobodyWaitsForAStoreThatNoAgentHasSeen() {
    GpuCheckpointStoreStatus status = new GpuCheckpointStoreStatus();
    GpuCheckpointStore store = store("local", true);
    new StoreStatus(CLOCK)
        .write(StoreFacts.of(store, List.of(), List.of()), List.of(store), Map.of(), status);

    assertThat(status.getConditions()).isEmpty();
    assertThat(status.getReason()).isEqualTo("WaitingForAgent");
    assertThat(status.getFree()).isNull();
  }

  private String refusal(@Nullable String asked, GpuCheckpointStore... stores) {
    return ((StoreChoice.Refused) choice.choose(asked, ML, List.of(stores))).fault().message();
  }

  private static List<String> sentences(List<Fault> faults) {
    return faults.stream().map(Fault::message).toList();
  }

  private static GpuCheckpointStoreStatus status(
      GpuCheckpointStore store, GpuCheckpoint... checkpoints) {
    GpuCheckpointStoreStatus status = new GpuCheckpointStoreStatus();
    new StoreStatus(CLOCK)
        .write(facts(store, List.of(checkpoints)), List.of(store), Map.of(), status);
    return status;
  }

  private static Condition ready(GpuCheckpointStoreStatus status) {
    return Objects.requireNonNull(status.getConditions()).get(0);
  }

  private static StoreFacts facts(GpuCheckpointStore store, List<GpuCheckpoint> checkpoints) {
    String name = store.getMetadata().getName();
    return StoreFacts.of(
        store,
        List.of(
            node("node1", new NodeStore(name, true, null, 100 * GIB, 50 * GIB, null, 6 * GIB, 2)),
            node(
                "node2",
                new NodeStore(
                    name, false, "read-only file system", 100 * GIB, 5 * GIB, null, GIB, 1))),
        checkpoints);
  }

  private static GpuNode node(String name, NodeStore seen) {
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    node.setStatus(new GpuNodeStatus());
    node.getStatus().setStores(List.of(seen));
    return node;
  }

  private static GpuCheckpointStore store(String name, boolean isDefault) {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(name);
    store.getMetadata().setGeneration(1L);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setIsDefault(isDefault);
    store.getSpec().setLocation(StoreLocation.of(new NodeLocal("/var/lib/stasis")));
    return store;
  }

  private static GpuNodeOperation making(String namespace, String name, long bytes) {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.CHECKPOINT);
    spec.setNodeName("node1");
    spec.setRequester(new ObjectReference("GpuCheckpoint", namespace, name, "uid-" + name));
    spec.setArtifact(new ArtifactReference("local", "x", namespace, "uid-" + name, null));
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setSpec(spec);
    operation.setStatus(new GpuNodeOperationStatus());
    operation.getStatus().setPhase(OperationPhase.CLAIMED);
    operation
        .getStatus()
        .setExplanation(new Explanation(null, null, bytes, null, null, null, null, null));
    return operation;
  }

  private static GpuCheckpoint checkpoint(String namespace, String name, long bytes) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace(namespace);
    checkpoint.getMetadata().setName(name);
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.setStatus(new GpuCheckpointStatus());
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("local");
    artifact.setBytes(bytes);
    checkpoint.getStatus().setArtifact(artifact);
    checkpoint.getStatus().setPhase(CheckpointPhase.READY);
    return checkpoint;
  }

  private static Namespace namespace(String name, String team) {
    return new NamespaceBuilder()
        .withNewMetadata()
        .withName(name)
        .addToLabels("team", team)
        .endMetadata()
        .build();
  }
}
