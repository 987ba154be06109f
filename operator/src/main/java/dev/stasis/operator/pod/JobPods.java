package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pods of Jobs. A Job counts a pod that is deleted as failed, unless it has released it before:
 * without the labels by which the Job finds it, its deletion is nobody's failure.
 */
public final class JobPods {

  private static final List<String> FOUND_BY =
      List.of("batch.kubernetes.io/controller-uid", "controller-uid");

  private final KubernetesClient client;
  private final PodLabels podLabels;

  public JobPods(KubernetesClient client) {
    this.client = client;
    this.podLabels = new PodLabels(client);
  }

  /** The Job lets go of the pod: its owner and its finalizer go by and by. */
  public void release(Pod pod) {
    labels(pod, null);
  }

  /** A Job takes the pod back that it has released; the labels are those of the source. */
  public void takeBack(Pod pod, Pod source) {
    labels(pod, source.getMetadata().getLabels());
  }

  /** When the Job of the pod ends it, whatever it does; empty: never, or it has none. */
  public Optional<Instant> deadline(Pod pod) {
    return Owners.of(pod)
        .filter(Owners::isJob)
        .map(
            owner ->
                client
                    .batch()
                    .v1()
                    .jobs()
                    .inNamespace(pod.getMetadata().getNamespace())
                    .withName(owner.getName())
                    .get())
        .filter(job -> job.getSpec().getActiveDeadlineSeconds() != null)
        .filter(job -> job.getStatus() != null && job.getStatus().getStartTime() != null)
        .map(
            job ->
                Instant.parse(job.getStatus().getStartTime())
                    .plusSeconds(job.getSpec().getActiveDeadlineSeconds()));
  }

  private void labels(Pod pod, @Nullable Map<String, String> from) {
    Map<String, @Nullable String> labels = new HashMap<>();
    for (String key : FOUND_BY) {
      labels.put(key, from == null ? null : from.get(key));
    }
    podLabels.change(pod, labels);
  }
}
