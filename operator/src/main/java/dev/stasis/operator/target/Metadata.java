package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.pod.FormerPods;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Name, labels and annotations of a target. */
record Metadata(FrozenPod source, Wish wish) {

  /** Fields that the cluster writes on a started pod, and that would be wrong on another one. */
  private static final List<String> WRITTEN_BY_THE_CLUSTER =
      List.of(
          "cni.projectcalico.org/",
          "k8s.v1.cni.cncf.io/network-status",
          "k8s.v1.cni.cncf.io/networks-status",
          "k8s.ovn.org/",
          "ovn.kubernetes.io/",
          "kubernetes.io/config.",
          "kubernetes.io/limit-ranger",
          "kubectl.kubernetes.io/last-applied-configuration",
          "sidecar.istio.io/status",
          "linkerd.io/created-by",
          "linkerd.io/proxy-version",
          "controller.kubernetes.io/pod-deletion-cost");

  /**
   * A Deployment, a Job and a StatefulSet identify their pods by these labels, in addition to their
   * selector.
   */
  private static final Set<String> CONTROLLERS_OWN =
      Set.of(
          "pod-template-hash",
          "controller-revision-hash",
          "controller-uid",
          "batch.kubernetes.io/controller-uid");

  ObjectMeta make() {
    return wish.way() instanceof Way.InPlace inPlace ? inPlace(inPlace) : created();
  }

  private ObjectMeta created() {
    ObjectMeta was = source.pod().getMetadata();
    TargetName name = TargetName.of(was, wish);
    SortedMap<String, String> annotations = annotations(was.getAnnotations());
    name.note().ifPresent(first -> annotations.put(Api.FIRST_NAME_ANNOTATION, first));
    return new ObjectMetaBuilder()
        .withNamespace(was.getNamespace())
        .withName(name.name())
        .withLabels(labels(was.getLabels()))
        .withAnnotations(annotations)
        .build();
  }

  /** Its controller sets owner, name and finalizers. */
  private ObjectMeta inPlace(Way.InPlace way) {
    ObjectMeta made = way.made().getMetadata();
    return new ObjectMetaBuilder(made)
        .withLabels(labels(made.getLabels()))
        .withAnnotations(annotations(made.getAnnotations()))
        .build();
  }

  private SortedMap<String, String> labels(@Nullable Map<String, String> were) {
    SortedMap<String, String> labels = usersOwn(were);
    if (wish.way() instanceof Way.Apart apart) {
      labels.keySet().removeAll(apart.selectorKeys());
      labels.keySet().removeAll(CONTROLLERS_OWN);
    }
    labels.putAll(Objects.requireNonNullElse(wish.target().labels(), Map.of()));
    labels.put(Api.OPERATION_UID_LABEL, wish.requesterUid());
    labels.put(Api.CHECKPOINT_LABEL, source.checkpoint());
    return labels;
  }

  private SortedMap<String, String> annotations(@Nullable Map<String, String> were) {
    SortedMap<String, String> annotations = usersOwn(were);
    annotations.keySet().removeIf(key -> WRITTEN_BY_THE_CLUSTER.stream().anyMatch(key::startsWith));
    annotations.put(Api.RESTORED_FROM_ANNOTATION, wish.requester());
    FormerPods former = FormerPods.after(source.pod().getMetadata(), source.saved());
    if (!former.pods().isEmpty()) {
      annotations.put(Api.FORMER_PODS_ANNOTATION, former.text());
    }
    if (source.started() != null) {
      annotations.put(Api.WORKLOAD_START_ANNOTATION, source.started().toString());
    }
    if (source.image() instanceof Image.ById) {
      new SideLoaded(source.pod(), source.container())
          .name()
          .ifPresent(name -> annotations.put(Api.IMAGE_ANNOTATION, name));
    }
    return annotations;
  }

  /** All keys except those of Stasis; keys that a user may set are kept. */
  private static SortedMap<String, String> usersOwn(@Nullable Map<String, String> were) {
    Set<String> usersToSet = Set.of(Api.PROTECT_LABEL, Api.EVICT_DEADLINE_ANNOTATION);
    SortedMap<String, String> kept = new TreeMap<>(were == null ? Map.of() : were);
    kept.keySet().removeIf(key -> key.startsWith(Api.GROUP + "/") && !usersToSet.contains(key));
    return kept;
  }
}
