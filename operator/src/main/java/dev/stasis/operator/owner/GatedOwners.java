package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.operator.admission.Admission;
import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Maintains the set of gated controllers in the webhook configuration. */
@Singleton
class GatedOwners {

  /**
   * How long a written configuration is assumed to be unchanged. The events of a hundred migrations
   * within a second cost one request instead of hundreds in sequence. It is shorter than any
   * eviction takes.
   */
  private static final Duration RECHECK = Duration.ofSeconds(2);

  private final Informers informers;
  private final Admission admission;
  private final HandoverWebhook webhook;
  private final Clock clock;
  private final KubernetesSerialization serialization;

  /** Checkpoints with an unfinished hand-over, by namespace and name; few among many. */
  private final Set<String> open = new TreeSet<>();

  private boolean all;

  private volatile boolean begun;

  /** Avoids requests for unrelated events. The state left by an earlier operator is unknown. */
  private volatile boolean none;

  private final Coalesced writes = new Coalesced(this::writeAll);

  /** What was written last, used only by the thread that writes; null before the first write. */
  private @Nullable List<GatedOwner> known;

  private Instant checked = Instant.EPOCH;

  GatedOwners(
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
   * Checks whether the hand-overs of these checkpoints are unfinished.
   *
   * @return whether one is, or was a moment ago, or others are
   */
  synchronized boolean look(String namespace, Collection<String> names) {
    fill();
    boolean any = !none;
    for (String name : names) {
      boolean isOpen = informers.checkpoint(namespace, name).flatMap(this::handover).isPresent();
      boolean was = isOpen ? !open.add(key(namespace, name)) : open.remove(key(namespace, name));
      any |= isOpen || was;
    }
    return any;
  }

  /**
   * Returns whether it reads all checkpoints, or has read them. One that changed before is among
   * them.
   */
  boolean hasBegun() {
    return begun;
  }

  /** A restarted operator removes nothing before it has read all of them. */
  private void fill() {
    if (all) {
      return;
    }
    begun = true;
    informers.checkpoints().stream()
        .filter(it -> handover(it).isPresent())
        .map(it -> key(it.getMetadata().getNamespace(), it.getMetadata().getName()))
        .forEach(open::add);
    all = true;
  }

  /** Returns unfinished hand-overs. */
  synchronized List<Handover> handovers() {
    return open.stream()
        .map(key -> key.split("/", -1))
        .flatMap(key -> informers.checkpoint(key[0], key[1]).flatMap(this::handover).stream())
        .toList();
  }

  /**
   * Configures the API server to call the webhook for pods of these controllers only. One thread
   * writes; the others leave their request to it instead of waiting for the API server.
   *
   * @return false if the configuration could not be written
   */
  boolean write() {
    return writes.request();
  }

  private boolean writeAll() {
    if (!admission.isEnabled()) {
      none = true;
      return true;
    }
    List<GatedOwner> held = held();
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

  private synchronized List<GatedOwner> held() {
    fill();
    return Stream.concat(
            handovers().stream().map(GatedOwners::held),
            informers.migrations().stream()
                .filter(migration -> !Move.isOver(migration))
                .flatMap(this::moving))
        .distinct()
        .toList();
  }

  private Optional<Handover> handover(GpuCheckpoint checkpoint) {
    return Handover.open(
        checkpoint,
        informers.restoresOf(
            checkpoint.getMetadata().getNamespace(), checkpoint.getMetadata().getName()),
        informers::pod,
        serialization);
  }

  private Stream<GatedOwner> moving(GpuMigration migration) {
    String uid = migration.getMetadata().getUid();
    return Move.open(migration, informers.operations(uid), serialization)
        .map(owner -> new GatedOwner(migration.getMetadata().getNamespace(), owner.getUid()))
        .stream();
  }

  private static GatedOwner held(Handover handover) {
    return new GatedOwner(
        handover.checkpoint().getMetadata().getNamespace(), handover.owner().getUid());
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }
}
