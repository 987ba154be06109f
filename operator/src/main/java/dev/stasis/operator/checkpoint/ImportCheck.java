package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.store.ImportPolicy;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.StoreChoice;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What stands against an import, as far as the cluster knows it. */
final class ImportCheck {

  private final Validation validation;
  private final StoreChoice choice = new StoreChoice();

  ImportCheck(Validation validation) {
    this.validation = validation;
  }

  /** What came of it. */
  sealed interface Result {}

  /** The agent of that node can look at it. */
  record Admitted(String store, String node) implements Result {}

  /** It cannot be done. */
  record Refused(Fault fault) implements Result {}

  /** It cannot be done now. */
  record Wait(Validation.Wait why) implements Result {}

  /** Before an agent is asked. */
  Result validate(Turn turn, ImportSource from) {
    if (!from.location().startsWith(turn.namespace() + "/")) {
      return new Refused(
          Reasons.fault(
              Reason.OTHER_NAMESPACE,
              "importFrom.location",
              turn.namespace() + "/NAME, of its own namespace",
              from.location()));
    }
    StoreChoice.Choice chosen =
        choice.choose(turn.spec().storeName(), Validation.namespace(turn), turn.cluster().stores());
    if (chosen instanceof StoreChoice.Refused refused) {
      return new Refused(refused.fault());
    }
    GpuCheckpointStore store = ((StoreChoice.Chosen) chosen).store();
    boolean nodeLocal = store.getSpec().getNodeLocal() != null;
    if (nodeLocal && from.nodeName() == null) {
      return new Refused(
          Reasons.fault(
              Reason.NOT_IMPORTED,
              "importFrom.nodeName",
              "the node on whose disk the artifact lies, since store "
                  + store.getMetadata().getName()
                  + " is on the disk of each node",
              "none"));
    }
    String name = store.getMetadata().getName();
    Optional<Fault> taken = taken(turn, new Place(name, from.location(), from.nodeName()));
    if (taken.isPresent()) {
      return new Refused(taken.get());
    }
    return node(turn, store, from.nodeName());
  }

  private static Result node(Turn turn, GpuCheckpointStore store, @Nullable String wanted) {
    String node =
        wanted == null ? anyThatReaches(turn, store.getMetadata().getName()).orElse(null) : wanted;
    if (node == null) {
      return new Wait(
          new Validation.Wait(
              Reason.WAITING_FOR_AGENT,
              "store %s: expected a node whose agent reaches it, got none"
                  .formatted(store.getMetadata().getName())));
    }
    if (turn.cluster().node(node).isEmpty() && turn.cluster().gpuNode(node).isEmpty()) {
      return new Refused(
          Reasons.fault(Reason.NODE_GONE, "importFrom.nodeName", "a node of this cluster", node));
    }
    return Validation.agent(turn, node)
        .or(() -> Validation.unseen(turn, store, node))
        .<Result>map(Wait::new)
        .orElseGet(() -> new Admitted(store.getMetadata().getName(), node));
  }

  private static Optional<String> anyThatReaches(Turn turn, String store) {
    return turn.cluster().gpuNodes().stream()
        .filter(node -> sees(node, store))
        .map(node -> node.getMetadata().getName())
        .sorted()
        .filter(node -> turn.agent(node).against().isEmpty())
        .findFirst();
  }

  private static boolean sees(GpuNode node, String store) {
    return node.getStatus() != null
        && node.getStatus().getStores() != null
        && node.getStatus().getStores().stream().anyMatch(seen -> seen.name().equals(store));
  }

  /** What the namespace may hold, once the agent has said how large it is. */
  List<Fault> quota(Turn turn, OperationView view, long bytes) {
    String store =
        Objects.requireNonNull(view.operation().getSpec().getArtifact(), "it is in a store")
            .store();
    return turn.cluster()
        .store(store)
        .map(found -> validation.room(turn, found, view, bytes))
        .orElse(List.of());
  }

  /** Where it lies; two nodes may have a copy each at the same place of their disks. */
  private record Place(String store, String location, @Nullable String node) {
    boolean is(@Nullable String other, @Nullable String at, @Nullable String on) {
      return store.equals(other)
          && location.equals(at)
          && (node == null || on == null || node.equals(on));
    }
  }

  /** Once the agent has said whose artifact it is: nobody else may have it. */
  Optional<Fault> taken(Turn turn, ArtifactStatus found) {
    String uid = found.getUid();
    return Stream.<HasMetadata>concat(
            turn.cluster().checkpoints(turn.namespace()).stream(),
            turn.cluster().migrations().stream())
        .filter(other -> other.getMetadata().getUid().equals(uid))
        .findFirst()
        .map(owner -> fault("one whose object is gone", "that it is the artifact of", owner))
        .or(
            () ->
                taken(
                    turn,
                    new Place(
                        Objects.requireNonNull(found.getStore(), "an artifact has a store"),
                        Objects.requireNonNull(found.getLocation(), "it was looked at"),
                        found.getNode())));
  }

  /** Made in another namespace of this name, which the administrator of the store did not allow. */
  Optional<Fault> foreign(Turn turn, ArtifactStatus found) {
    String uid = Validation.namespace(turn).getMetadata().getUid();
    boolean any =
        turn.cluster()
            .store(Objects.requireNonNull(found.getStore(), "an artifact has a store"))
            .map(store -> store.getSpec().getImports())
            .filter(ImportPolicy::allowsAnyNamespaceUid)
            .isPresent();
    if (any || (uid != null && uid.equals(found.getNamespaceUid()))) {
      return Optional.empty();
    }
    return Optional.of(
        Reasons.fault(
            Reason.OTHER_NAMESPACE,
            "namespace uid of the artifact",
            uid + ", or imports.anyNamespaceUid in the store",
            Objects.requireNonNullElse(found.getNamespaceUid(), "none")));
  }

  private Optional<Fault> taken(Turn turn, Place place) {
    return turn.cluster().checkpoints(turn.namespace()).stream()
        .filter(other -> !other.getMetadata().getUid().equals(turn.uid()))
        .filter(other -> has(other, place) || isFirst(turn, other, place))
        .findFirst()
        .map(other -> fault("an artifact that nobody has", "that it is the one of", other));
  }

  private static boolean has(GpuCheckpoint other, Place place) {
    ArtifactStatus artifact = other.getStatus() == null ? null : other.getStatus().getArtifact();
    return artifact != null
        && place.is(artifact.getStore(), artifact.getLocation(), artifact.getNode());
  }

  /** Of two that want the same one at once, the older one has it. */
  private boolean isFirst(Turn turn, GpuCheckpoint other, Place place) {
    ImportSource wanted = other.getSpec().getImportFrom();
    boolean over =
        other.getStatus() != null
            && other.getStatus().getPhase() != null
            && other.getStatus().getPhase().isFinal();
    if (wanted == null || over || other.getMetadata().getDeletionTimestamp() != null) {
      return false;
    }
    StoreChoice.Choice chosen =
        choice.choose(
            other.getSpec().storeName(), Validation.namespace(turn), turn.cluster().stores());
    return chosen instanceof StoreChoice.Chosen it
        && place.is(it.store().getMetadata().getName(), wanted.location(), wanted.nodeName())
        && Comparator.<GpuCheckpoint, String>comparing(
                    one -> one.getMetadata().getCreationTimestamp())
                .thenComparing(one -> one.getMetadata().getUid())
                .compare(other, turn.object())
            < 0;
  }

  private static Fault fault(String wanted, String found, HasMetadata owner) {
    return Reasons.fault(
        Reason.ALREADY_IMPORTED,
        "importFrom.location",
        wanted,
        "%s %s %s".formatted(found, owner.getKind(), owner.getMetadata().getName()));
  }
}
