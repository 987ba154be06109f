package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.cluster.Pages;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.owner.Handover;
import dev.stasis.operator.owner.Moves;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.target.TargetPlan;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.zjsonpatch.JsonDiff;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Turns the pod that a controller creates in place of a frozen one into the target, which waits
 * until a GpuRestore claims it. Everything is read from the API server itself: a watch may lag
 * behind, and a pod that passes unchanged is a cold start.
 */
@Singleton
class OwnedPodHook implements AdmissionHook {

  private final KubernetesClient client;
  private final Pages pages;
  private final KubernetesSerialization serialization;
  private final RestoreTargets targets;
  private final SourceReader sources;
  private final Moves moves;
  private final Clock clock;

  OwnedPodHook(KubernetesClient client, RestoreTargets targets, Moves moves, Clock clock) {
    this.moves = moves;
    this.client = client;
    this.pages = new Pages(client);
    this.serialization = client.getKubernetesSerialization();
    this.targets = targets;
    this.sources = new SourceReader(serialization);
    this.clock = clock;
  }

  @Override
  public String path() {
    return "handover";
  }

  @Override
  public Verdict review(AdmissionRequest request) {
    Pod made = serialization.convertValue(request.getObject(), Pod.class);
    String namespace = request.getNamespace();
    Optional<Verdict> moving = moves.refusal(made, namespace);
    if (moving.isPresent()) {
      return moving.get();
    }
    Optional<OwnerReference> owner = Owners.of(made);
    if (owner.isEmpty()) {
      return Verdict.allowed();
    }
    List<GpuCheckpoint> checkpoints =
        pages.list(GpuCheckpoint.class, namespace, checkpoint -> mayBeOf(checkpoint, owner.get()));
    Set<String> names =
        checkpoints.stream().map(it -> it.getMetadata().getName()).collect(Collectors.toSet());
    List<GpuRestore> restores =
        names.isEmpty()
            ? List.of()
            : pages.list(
                GpuRestore.class,
                namespace,
                restore -> names.contains(restore.getSpec().checkpointName()));
    List<Handover> open =
        checkpoints.stream()
            .flatMap(
                checkpoint ->
                    Handover.open(checkpoint, of(checkpoint, restores), this::pod, serialization)
                        .stream())
            .filter(handover -> handover.isFor(made))
            .sorted(Comparator.comparing(Handover::name))
            .toList();
    if (Departure.isProbe(made)) {
      return open.isEmpty()
          ? Verdict.allowed()
          : new Verdict.NotNow("no replacement is created yet");
    }
    List<Pod> there =
        client.pods().inNamespace(namespace).withLabel(Api.CHECKPOINT_LABEL).list().getItems();
    for (Handover handover : open) {
      if (!handover.isReady()) {
        return new Verdict.NotNow(
            ("GpuCheckpoint %s is about to evict a pod of %s %s: no replacement is created until"
                    + " it has finished")
                .formatted(
                    handover.name(), handover.owner().getKind(), handover.owner().getName()));
      }
      if (there.stream().noneMatch(pod -> isTargetOf(pod, handover, restores))) {
        return target(made, namespace, handover);
      }
    }
    return Verdict.allowed();
  }

  private Optional<Pod> pod(String namespace, String name) {
    return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get());
  }

  /**
   * Returns whether its pod may have had that controller; reading thousands of templates takes
   * seconds.
   */
  private static boolean mayBeOf(GpuCheckpoint checkpoint, OwnerReference owner) {
    return checkpoint.getStatus() != null
        && checkpoint.getStatus().getPodTemplate() != null
        && String.valueOf(checkpoint.getStatus().getPodTemplate().get("metadata"))
            .contains(owner.getUid());
  }

  private static List<GpuRestore> of(GpuCheckpoint checkpoint, List<GpuRestore> restores) {
    return restores.stream()
        .filter(it -> it.getSpec().checkpointName().equals(checkpoint.getMetadata().getName()))
        .toList();
  }

  /** Claimed or not, but created for this checkpoint and not for an earlier one with its name. */
  private static boolean isTargetOf(Pod pod, Handover handover, List<GpuRestore> restores) {
    Map<String, String> labels = pod.getMetadata().getLabels();
    String uid = labels.get(Api.OPERATION_UID_LABEL);
    boolean claimed =
        restores.stream()
            .anyMatch(
                restore ->
                    restore.getMetadata().getUid().equals(uid)
                        && restore.getSpec().checkpointName().equals(handover.name()));
    return pod.getMetadata().getDeletionTimestamp() == null
        && handover.name().equals(labels.get(Api.CHECKPOINT_LABEL))
        && (handover.uid().equals(uid) || claimed);
  }

  private Verdict target(Pod made, String namespace, Handover handover) {
    GpuRestore asking = new GpuRestore();
    asking.setMetadata(
        new ObjectMetaBuilder().withNamespace(namespace).withName(handover.name()).build());
    asking.setSpec(new GpuRestoreSpec());
    asking.getSpec().setCheckpointRef(NameReference.of(handover.name()));
    Source source = sources.read(asking, Optional.of(handover.checkpoint()));
    if (!(source instanceof Source.Ready ready)) {
      return new Verdict.NotNow(
          "GpuCheckpoint " + handover.name() + " cannot be read yet, so no replacement is created");
    }
    Pod named = new PodBuilder(made).editMetadata().withNamespace(namespace).endMetadata().build();
    TargetPlan plan = targets.inPlace(named, ready, clock.instant());
    if (plan instanceof TargetPlan.Refused refused) {
      return new Verdict.Denied(refused.sentence());
    }
    Pod target = ((TargetPlan.Made) plan).pod();
    return new Verdict.Changed(
        JsonDiff.asJson(
                serialization.convertValue(named, com.fasterxml.jackson.databind.JsonNode.class),
                serialization.convertValue(
                    Objects.requireNonNull(target), com.fasterxml.jackson.databind.JsonNode.class))
            .toString());
  }
}
