package dev.stasis.operator.pod;

import dev.stasis.operator.cluster.RecentMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Reads the deadline at which a Job ends its pods. Jobs are not watched. */
public final class JobDeadlines {

  /**
   * How long an answer is used: a waiting request polls four times as often, and a Job's deadline
   * hardly ever changes.
   */
  private static final Duration COUNTS = Duration.ofMinutes(1);

  /** Far more pods of Jobs than ever wait at once. */
  private static final int REMEMBERED = 10_000;

  private final KubernetesClient client;
  private final Clock clock;
  private final RecentMap<String, Known> known = new RecentMap<>(REMEMBERED);

  private record Known(Optional<Instant> deadline, Instant until) {}

  public JobDeadlines(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  /** Returns when the Job of the pod ends it; empty if never, and for a pod without a Job. */
  public Optional<Instant> of(Pod pod) {
    return Owners.of(pod)
        .filter(Owners::isJob)
        .flatMap(
            owner ->
                known
                    .get(owner.getUid())
                    .filter(it -> clock.instant().isBefore(it.until()))
                    .orElseGet(
                        () ->
                            read(owner.getUid(), pod.getMetadata().getNamespace(), owner.getName()))
                    .deadline());
  }

  private Known read(String uid, String namespace, String name) {
    Known read =
        new Known(
            Optional.ofNullable(
                    client.batch().v1().jobs().inNamespace(namespace).withName(name).get())
                .flatMap(JobDeadlines::deadline),
            clock.instant().plus(COUNTS));
    known.put(uid, read);
    return read;
  }

  private static Optional<Instant> deadline(Job job) {
    return job.getSpec().getActiveDeadlineSeconds() == null
            || job.getStatus() == null
            || job.getStatus().getStartTime() == null
        ? Optional.empty()
        : Optional.of(
            Instant.parse(job.getStatus().getStartTime())
                .plusSeconds(job.getSpec().getActiveDeadlineSeconds()));
  }
}
