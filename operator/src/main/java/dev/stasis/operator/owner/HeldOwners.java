package dev.stasis.operator.owner;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.operator.admission.Admission;
import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All controllers that make no pod without the operator, as the API server is told. */
@Singleton
class HeldOwners {

  /**
   * How long what was written is taken to stand: a second's events of a hundred migrations cost one
   * request instead of hundreds, one after the other. Shorter than any eviction takes to end.
   */
  private static final Duration RECHECK = Duration.ofSeconds(2);

  private final Informers informers;
  private final Admission admission;
  private final HandoverWebhook webhook;
  private final Clock clock;
  private final KubernetesSerialization serialization;

  /** Checkpoints with an open hand-over, by namespace and name: few among many. */
  private final Set<String> open = new TreeSet<>();

  private boolean all;

  /**
   * So that an event of somebody else's costs no request. What an operator before left is unknown.
   */
  private boolean none;

  /** What was written last; null before the first write. */
  private @Nullable List<HeldOwner> known;

  private Instant checked = Instant.EPOCH;

  HeldOwners(
      KubernetesClient client,
      Informers informers,
      Admission admission,
      HandoverWebhook webhook,
      Clock clock) {
    this.clock = clock;
    this.informers = informers;
    this.admission = admission;
    this.webhook = webhook;
    this.serialization = client.getKubernetesSerialization();
  }

  /**
   * Looks whether the hand-over of that checkpoint is open.
   *
   * @return whether it is, or was a moment ago, or others are
   */
  synchronized boolean look(String namespace, String name) {
    fill();
    boolean isOpen = informers.checkpoint(namespace, name).flatMap(this::handover).isPresent();
    boolean was = isOpen ? !open.add(key(namespace, name)) : open.remove(key(namespace, name));
    return isOpen || was || !none;
  }

  /** An operator that was started anew takes nothing back before it has looked at all of them. */
  private void fill() {
    if (all) {
      return;
    }
    informers.checkpoints().stream()
        .filter(it -> handover(it).isPresent())
        .map(it -> key(it.getMetadata().getNamespace(), it.getMetadata().getName()))
        .forEach(open::add);
    all = true;
  }

  /** Hand-overs that are open. */
  synchronized List<Handover> handovers() {
    return open.stream()
        .map(key -> key.split("/", -1))
        .flatMap(key -> informers.checkpoint(key[0], key[1]).flatMap(this::handover).stream())
        .toList();
  }

  /**
   * Has the API server ask about the pods of these, and of no others. One at a time: the later one
   * has seen more.
   *
   * @return whether it is written, or there is nothing to write
   */
  synchronized boolean write() {
    if (!admission.isEnabled()) {
      none = true;
      return true;
    }
    fill();
    List<HeldOwner> held =
        Stream.concat(
                handovers().stream().map(HeldOwners::held),
                informers.migrations().stream()
                    .filter(migration -> !Move.isOver(migration))
                    .flatMap(this::moving))
            .distinct()
            .toList();
    if (held.isEmpty() && none) {
      return true;
    }
    Instant now = clock.instant();
    if (held.equals(known) && now.isBefore(checked.plus(RECHECK))) {
      return true;
    }
    boolean written =
        admission
            .reach(HandoverReconciler.PATH)
            .map(reach -> webhook.asks(held, reach))
            .orElse(false);
    known = written ? held : null;
    checked = now;
    none = written && held.isEmpty();
    return written || held.isEmpty();
  }

  private Optional<Handover> handover(GpuCheckpoint checkpoint) {
    return Handover.open(
        checkpoint,
        informers.restoresOf(
            checkpoint.getMetadata().getNamespace(), checkpoint.getMetadata().getName()),
        serialization);
  }

  private Stream<HeldOwner> moving(GpuMigration migration) {
    String uid = migration.getMetadata().getUid();
    return Move.open(migration, informers.operations(uid), serialization)
        .map(owner -> new HeldOwner(migration.getMetadata().getNamespace(), owner.getUid()))
        .stream();
  }

  private static HeldOwner held(Handover handover) {
    return new HeldOwner(
        handover.checkpoint().getMetadata().getNamespace(), handover.owner().getUid());
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }
}
