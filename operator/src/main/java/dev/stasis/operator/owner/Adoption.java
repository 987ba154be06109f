package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodLabels;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets a controller adopt another pod in place of one of its own. It releases the source, which
 * then counts neither as failed nor as surplus, and selects the target by the same labels.
 */
@Singleton
public class Adoption {

  /** A Job also finds its pods by these labels, whatever its selector says. */
  private static final Set<String> OF_A_JOB =
      Set.of("controller-uid", "batch.kubernetes.io/controller-uid");

  private final KubernetesClient client;
  private final Departure departure;
  private final PodLabels podLabels;

  public Adoption(KubernetesClient client, Departure departure) {
    this.client = client;
    this.departure = departure;
    this.podLabels = new PodLabels(client);
  }

  /** Returns why no pod of that controller can be moved; empty if it can. */
  public Optional<String> refusal(OwnerReference owner) {
    if (!Owners.canAdopt(owner)) {
      return Optional.of("one of " + owner.getKind() + " " + owner.getName());
    }
    return departure.isEnabled()
        ? Optional.empty()
        : Optional.of(
            "one of "
                + owner.getKind()
                + " "
                + owner.getName()
                + ", with disabled webhooks of the operator");
  }

  /**
   * Returns the keys of the labels by which the controller selects its pods; empty if it is gone.
   */
  public Set<String> selectorKeys(String namespace, OwnerReference owner) {
    Optional<GenericKubernetesResource> found = find(namespace, owner);
    Set<String> keys = new HashSet<>();
    found
        .map(it -> it.<Object>get("spec", "selector", "matchLabels"))
        .ifPresent(labels -> ((Map<?, ?>) labels).keySet().forEach(it -> keys.add(it.toString())));
    found
        .map(it -> it.<Object>get("spec", "selector", "matchExpressions"))
        .ifPresent(
            all ->
                ((Iterable<?>) all)
                    .forEach(it -> keys.add(String.valueOf(((Map<?, ?>) it).get("key")))));
    if (found.isPresent() && Owners.isJob(owner)) {
      keys.addAll(OF_A_JOB);
    }
    return keys;
  }

  /** Returns the controller of the source, if it exists and has not adopted the target. */
  public Optional<OwnerReference> open(Pod source, Pod target) {
    return Owners.of(source)
        .filter(Owners::canAdopt)
        .filter(
            owner -> Owners.of(target).filter(it -> it.getUid().equals(owner.getUid())).isEmpty())
        .filter(owner -> find(source.getMetadata().getNamespace(), owner).isPresent());
  }

  /**
   * Returns whether the controller can adopt the target: it has the labels of the source.
   *
   * @param was the source before it was touched
   */
  public boolean isOffered(Pod was, Pod target) {
    return missing(was, target).isEmpty();
  }

  /**
   * Performs the next step; each step can be repeated.
   *
   * @param was the source before it was touched
   * @param source the current source; empty if it is gone
   * @return what is being waited for
   */
  public String step(Pod was, Optional<Pod> source, Pod target, OwnerReference owner) {
    String controller = owner.getKind() + " " + owner.getName();
    if (!departure.isHeldBack(was, owner)) {
      return controller
          + " would still start another pod; waiting for the webhook to be called first";
    }
    // In this order, a watcher of pods sees the source leave before the target joins.
    Set<String> keys = selectorKeys(was.getMetadata().getNamespace(), owner);
    source.ifPresent(pod -> podLabels.change(pod, without(pod, keys)));
    podLabels.change(target, missing(was, target));
    return controller + " releases the source and adopts the target";
  }

  private Map<String, @Nullable String> without(Pod pod, Set<String> keys) {
    Map<String, @Nullable String> change = new HashMap<>();
    Marks.labels(pod).keySet().stream()
        .filter(keys::contains)
        .forEach(key -> change.put(key, null));
    return change;
  }

  private static Map<String, @Nullable String> missing(Pod was, Pod target) {
    Map<String, @Nullable String> change = new HashMap<>();
    Marks.labels(was)
        .forEach(
            (key, value) -> {
              if (!key.startsWith(Api.GROUP + "/") && !Marks.labels(target).containsKey(key)) {
                change.put(key, value);
              }
            });
    return change;
  }

  private Optional<GenericKubernetesResource> find(String namespace, OwnerReference owner) {
    return Optional.ofNullable(
            client
                .genericKubernetesResources(owner.getApiVersion(), owner.getKind())
                .inNamespace(namespace)
                .withName(owner.getName())
                .get())
        .filter(found -> found.getMetadata().getUid().equals(owner.getUid()))
        .filter(found -> found.getMetadata().getDeletionTimestamp() == null);
  }
}
