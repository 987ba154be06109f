package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import java.time.Clock;

/** What the container puts together in the product. */
public record EvictionParts(
    KubernetesClient client,
    Informers informers,
    PodWrites pods,
    EventRecorder events,
    Clock clock,
    EvictionSettings settings,
    StasisConfig config) {

  public AdmissionHook hook() {
    return new EvictionHook(
        informers,
        new EvictionAttempts(client, informers, config),
        new EvictionBudgets(client),
        pods,
        events,
        clock,
        settings,
        config,
        new Departure(client, TestWebhooks.config("none")));
  }

  public Reconciler<GpuCheckpoint> reconciler() {
    return new EvictionReconciler(
        informers,
        new EvictionAttempts(client, informers, config),
        new EvictionBudgets(client),
        events,
        settings,
        clock);
  }
}
