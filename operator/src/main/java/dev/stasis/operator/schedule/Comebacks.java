package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import dev.stasis.api.v1alpha1.schedule.RestoreOnFailure;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Which failed pods are brought back, and from which checkpoint. */
final class Comebacks {

  /** The artifact itself is at fault: an older one may be whole. */
  private static final Set<String> DAMAGED =
      Set.of(
          "ArtifactRefused",
          // A chunk that is not what it was shows when it is read.
          "RegionMove",
          "LayerFailed",
          Reason.ARTIFACT_LOST.word(),
          Reason.NO_ARTIFACT.word(),
          Reason.STORE_NOT_FOUND.word());

  private final Lineage lineage = new Lineage();
  private final Failures failures;
  private final Lost lost;

  Comebacks(Failures failures, Lost lost) {
    this.failures = failures;
    this.lost = lost;
  }

  /** What is to be done about one failed pod. */
  sealed interface Next {
    /** The failure. */
    Failure failure();
  }

  /**
   * It is brought back. That is written down before anything is touched.
   *
   * @param from the checkpoint
   * @param skipped newer ones, each with the reason
   */
  record Bring(Failure failure, Taken from, List<String> skipped) implements Next {}

  /** It is not, for that reason. */
  record Leave(Failure failure, String why) implements Next {}

  /** What is to be begun for pods of which nothing is written down yet. */
  List<Next> next(View view) {
    RestoreOnFailure wish = view.spec().getRestoreOnFailure();
    if (wish == null) {
      return List.of();
    }
    Set<String> seen = new HashSet<>();
    Stream<Failure> failed =
        Stream.concat(view.departed().stream(), view.pods().stream())
            .flatMap(
                pod ->
                    failures.of(pod, view.now()).or(() -> lost.of(pod, wish, view.now())).stream());
    return Stream.concat(failed, inVain(view))
        .filter(failure -> seen.add(failure.podUid()))
        .flatMap(failure -> about(view, wish, failure).stream())
        .toList();
  }

  /** The pod itself is gone by now, and perhaps this operator never saw it. */
  private static Stream<Failure> inVain(View view) {
    return view.broughtBack().stream()
        .filter(tried -> tried.phase() == RestorePhase.FAILED)
        .map(
            tried ->
                new Failure(
                    new PodBuilder()
                        .withNewMetadata()
                        .withNamespace(view.namespace())
                        .withName(tried.pod())
                        .withUid(tried.podUid())
                        .addToLabels(Api.CHECKPOINT_LABEL, tried.checkpoint())
                        .endMetadata()
                        .build(),
                    tried.time(),
                    reason(tried),
                    "what " + tried.checkpoint() + " has of it is damaged"));
  }

  private static Reason reason(AutomaticRestore tried) {
    return Stream.of(Reason.values())
        .filter(reason -> reason.word().equals(tried.reason()))
        .findFirst()
        .orElse(Reason.RESTORE_FAILED);
  }

  private Optional<Next> about(View view, RestoreOnFailure wish, Failure failure) {
    List<AutomaticRestore> tried =
        view.broughtBack().stream().filter(it -> failure.podUid().equals(it.podUid())).toList();
    if (!tried.isEmpty() && !isDamaged(view, tried.get(0))) {
      return Optional.empty();
    }
    List<Taken> own = lineage.of(failure.pod(), view.taken());
    if (tried.isEmpty() && (own.isEmpty() || isElsewhere(view, own) || isBehind(failure, own))) {
      return Optional.empty();
    }
    Optional<String> owner = owner(failure);
    if (owner.isPresent()) {
      return Optional.of(new Leave(failure, owner.get()));
    }
    if (tried.isEmpty() && isOften(view, wish, failure)) {
      return Optional.of(
          new Leave(
              failure,
              "restoreOnFailure: wanted at most %d restores in %s, found as many"
                  .formatted(wish.getMaxRestores(), wish.getWindow())));
    }
    List<String> skipped = new ArrayList<>();
    Set<String> damaged = new HashSet<>();
    tried.forEach(it -> damaged.add(it.checkpoint()));
    List<Taken> newestFirst =
        own.stream()
            .filter(taken -> taken.ready().isPresent())
            .sorted(Taken.OLDEST_FIRST.reversed())
            .toList();
    for (Taken taken : newestFirst) {
      Optional<String> against = against(view, taken, damaged);
      if (against.isEmpty()) {
        return Optional.of(new Bring(failure, taken, List.copyOf(skipped)));
      }
      skipped.add(taken.name() + ": " + against.get());
    }
    return Optional.of(
        new Leave(
            failure,
            skipped.isEmpty()
                ? "no checkpoint of it is Ready"
                : "no checkpoint of it can be restored: " + String.join("; ", skipped)));
  }

  private static Optional<String> against(View view, Taken taken, Set<String> damaged) {
    if (damaged.contains(taken.name())) {
      return Optional.of("damaged");
    }
    if (!taken.isPortable()) {
      return Optional.of(Reason.NOT_PORTABLE.word());
    }
    if (!taken.isGood()) {
      return Optional.of(
          taken.condition().map(it -> it.reason()).orElse(Reason.NO_ARTIFACT.word()));
    }
    return view.outOfReach(taken);
  }

  /** Whether the last try came to nothing because of the artifact. */
  private static boolean isDamaged(View view, AutomaticRestore tried) {
    return tried.phase() == RestorePhase.FAILED
        && view.restore(tried.restore())
            .map(GpuRestore::getStatus)
            .map(status -> Objects.requireNonNullElse(status.getFaults(), List.<Fault>of()))
            .filter(
                faults ->
                    !faults.isEmpty()
                        && faults.stream().anyMatch(fault -> DAMAGED.contains(fault.reason())))
            .isPresent();
  }

  /**
   * Whether the state of one is later than the failure. Both times are known to the second, and no
   * container is started again and frozen within one: what is equal was frozen before it failed.
   */
  private static boolean isBehind(Failure failure, List<Taken> own) {
    return failure.reason() == Reason.CONTAINER_RESTARTED
        && own.stream()
            .filter(Taken::isGood)
            .anyMatch(taken -> taken.frozen().isAfter(failure.time()));
  }

  /** Somebody else brings it back: a user, a preemption, a protected eviction. */
  private static boolean isElsewhere(View view, List<Taken> own) {
    return view.restores().stream()
        .filter(restore -> !View.isOver(restore))
        .anyMatch(
            restore ->
                own.stream()
                    .anyMatch(taken -> taken.name().equals(restore.getSpec().getCheckpointName())));
  }

  private static boolean isOften(View view, RestoreOnFailure wish, Failure failure) {
    Instant since = view.now().minus(wish.getWindow().duration());
    return view.broughtBack().stream()
            .filter(it -> it.pod().equals(failure.podName()) && it.time().isAfter(since))
            .map(AutomaticRestore::podUid)
            .distinct()
            .count()
        >= wish.getMaxRestores();
  }

  /** The next pod of a controller can be the target as long as there is none. */
  private static Optional<String> owner(Failure failure) {
    return Owners.of(failure.pod())
        .filter(
            owner -> !Owners.canHandOver(owner) || failure.reason() != Reason.CONTAINER_RESTARTED)
        .map(
            owner ->
                "a pod without a controller is wanted, or one of a ReplicaSet, StatefulSet or Job"
                    + " that is still there, found one of %s %s, which makes another one in its place"
                        .formatted(owner.getKind(), owner.getName()));
  }
}
