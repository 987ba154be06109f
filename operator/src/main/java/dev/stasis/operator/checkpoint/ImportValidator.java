package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.store.ImportPolicy;
import dev.stasis.operator.node.NodeStores;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.StoreChoice;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Validates an import as far as the cluster knows the artifact. */
final class ImportValidator {

  private final CheckpointValidator validator = new CheckpointValidator();
  private final StoreChoice choice = new StoreChoice();

  /** The agent of that node can verify it. */
  record Admitted(String store, String node) implements CheckpointValidator.Result {}

  /** Validates it before an agent has read the artifact. */
  CheckpointValidator.Result validate(CheckpointContext context, ImportSource from) {
    if (!from.location().startsWith(context.namespace() + "/")) {
      return refused(
          Reason.OTHER_NAMESPACE.misfit(
              "importFrom.location",
              context.namespace() + "/NAME, of its own namespace",
              from.location()));
    }
    StoreChoice.Choice chosen =
        choice.choose(
            context.spec().storeName(), context.namespaceObject(), context.cluster().stores());
    if (chosen instanceof StoreChoice.Refused refused) {
      return refused(refused.fault());
    }
    GpuCheckpointStore store = ((StoreChoice.Chosen) chosen).store();
    boolean nodeLocal = store.getSpec().getLocation().nodeLocal() != null;
    if (nodeLocal && from.nodeName() == null) {
      return refused(
          Reason.NOT_IMPORTED.misfit(
              "importFrom.nodeName",
              "the node whose disk holds the artifact, because store "
                  + store.getMetadata().getName()
                  + " is on the disk of each node",
              "none"));
    }
    String name = store.getMetadata().getName();
    Optional<Fault> taken = taken(context, new Place(name, from.location(), from.nodeName()));
    if (taken.isPresent()) {
      return refused(taken.get());
    }
    return node(context, store, from.nodeName());
  }

  private static CheckpointValidator.Result node(
      CheckpointContext context, GpuCheckpointStore store, @Nullable String wanted) {
    String node =
        wanted == null
            ? anyThatReaches(context, store.getMetadata().getName()).orElse(null)
            : wanted;
    if (node == null) {
      return new CheckpointValidator.Wait(
          Reason.WAITING_FOR_AGENT,
          "store %s: expected a node whose agent can reach it, got none"
              .formatted(store.getMetadata().getName()));
    }
    if (context.cluster().node(node).isEmpty() && context.cluster().gpuNode(node).isEmpty()) {
      return refused(
          Reason.NODE_GONE.misfit("importFrom.nodeName", "a node of this cluster", node));
    }
    return CheckpointValidator.agent(context, node)
        .or(() -> CheckpointValidator.unseen(context, store, node))
        .<CheckpointValidator.Result>map(it -> it)
        .orElseGet(() -> new Admitted(store.getMetadata().getName(), node));
  }

  private static Optional<String> anyThatReaches(CheckpointContext context, String store) {
    return context.cluster().gpuNodes().stream()
        .filter(
            node -> NodeStores.of(node).list().stream().anyMatch(seen -> seen.name().equals(store)))
        .map(node -> node.getMetadata().getName())
        .sorted()
        .filter(node -> context.agent(node).against().isEmpty())
        .findFirst();
  }

  /** Returns which quota the artifact exceeds, once the agent has reported its size. */
  List<Fault> quota(CheckpointContext context, OperationView view, long bytes) {
    String store =
        Objects.requireNonNull(view.operation().getSpec().getArtifact(), "it is in a store")
            .store();
    return context
        .cluster()
        .store(store)
        .map(found -> validator.room(context, found, view, bytes))
        .orElse(List.of());
  }

  /** A location; two nodes may each have a copy at the same path. */
  private record Place(String store, String location, @Nullable String node) {
    boolean is(@Nullable String other, @Nullable String at, @Nullable String on) {
      return store.equals(other)
          && location.equals(at)
          && (node == null || on == null || node.equals(on));
    }
  }

  /** Returns which other object owns the artifact, once the agent has reported its owner. */
  Optional<Fault> taken(CheckpointContext context, ArtifactStatus found) {
    String uid = found.getUid();
    return Stream.<HasMetadata>concat(
            context.cluster().checkpoints(context.namespace()).stream(),
            context.cluster().migrations().stream())
        .filter(other -> other.getMetadata().getUid().equals(uid))
        .findFirst()
        .map(
            owner ->
                fault("an artifact whose object no longer exists", "one that belongs to", owner))
        .or(
            () ->
                taken(
                    context,
                    new Place(
                        Objects.requireNonNull(found.getStore(), "an artifact has a store"),
                        Objects.requireNonNull(found.getLocation(), "it was inspected"),
                        found.getNode())));
  }

  /**
   * Returns a fault if another namespace of this name has made it, and the store does not allow
   * that.
   */
  Optional<Fault> foreign(CheckpointContext context, ArtifactStatus found) {
    String uid = context.namespaceObject().getMetadata().getUid();
    boolean any =
        context
            .cluster()
            .store(Objects.requireNonNull(found.getStore(), "an artifact has a store"))
            .map(store -> store.getSpec().getOptions().getImports())
            .filter(ImportPolicy::allowsAnyNamespaceUid)
            .isPresent();
    if (any || (uid != null && uid.equals(found.getNamespaceUid()))) {
      return Optional.empty();
    }
    return Optional.of(
        Reason.OTHER_NAMESPACE.misfit(
            "namespace uid of the artifact",
            uid + ", or options.imports.anyNamespaceUid in the store",
            Objects.requireNonNullElse(found.getNamespaceUid(), "none")));
  }

  private Optional<Fault> taken(CheckpointContext context, Place place) {
    return context.cluster().checkpoints(context.namespace()).stream()
        .filter(other -> !other.getMetadata().getUid().equals(context.uid()))
        .filter(other -> has(other, place) || isFirst(context, other, place))
        .findFirst()
        .map(other -> fault("an artifact without an owner", "one that belongs to", other));
  }

  private static boolean has(GpuCheckpoint other, Place place) {
    ArtifactStatus artifact = other.getStatus() == null ? null : other.getStatus().getArtifact();
    return artifact != null
        && place.is(artifact.getStore(), artifact.getLocation(), artifact.getNode());
  }

  /** Of two imports of the same artifact, the older one gets it. */
  private boolean isFirst(CheckpointContext context, GpuCheckpoint other, Place place) {
    ImportSource wanted = other.getSpec().getImportFrom();
    boolean over = CurrentPhase.of(other).isFinal();
    if (wanted == null || over || other.getMetadata().getDeletionTimestamp() != null) {
      return false;
    }
    StoreChoice.Choice chosen =
        choice.choose(
            other.getSpec().storeName(), context.namespaceObject(), context.cluster().stores());
    return chosen instanceof StoreChoice.Chosen it
        && place.is(it.store().getMetadata().getName(), wanted.location(), wanted.nodeName())
        && Comparator.<GpuCheckpoint, String>comparing(
                    one -> one.getMetadata().getCreationTimestamp())
                .thenComparing(one -> one.getMetadata().getUid())
                .compare(other, context.object())
            < 0;
  }

  private static Fault fault(String wanted, String found, HasMetadata owner) {
    return Reason.ALREADY_IMPORTED.misfit(
        "importFrom.location",
        wanted,
        "%s %s %s".formatted(found, owner.getKind(), owner.getMetadata().getName()));
  }

  private static CheckpointValidator.Refused refused(Fault fault) {
    return new CheckpointValidator.Refused(List.of(fault));
  }
}
