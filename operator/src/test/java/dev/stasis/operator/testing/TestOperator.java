package dev.stasis.operator.testing;

import dev.stasis.operator.cluster.ClusterParts;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventParts;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.metric.CompletionMetrics;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.operation.OperationParts;
import dev.stasis.operator.operation.OperationSource;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.PodParts;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Changes;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.processing.event.rate.LinearRateLimiter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** The reconcilers as they run in the product, without its container: started anew in a moment. */
public final class TestOperator implements AutoCloseable {

  /** A few requests; one waits for twenty seconds at most. */
  private static final Duration LAST_WORK = Duration.ofSeconds(30);

  private final Operator operator;
  private final Informers informers;
  private final SimpleMeterRegistry registry;
  private final RequestCounter requests;
  private final KubernetesClient client;

  /** What reconcilers are made of. */
  public record Parts(
      KubernetesClient client,
      StasisConfig config,
      Clock clock,
      Informers informers,
      Operations operations,
      OperationSource operationSource,
      PodWrites pods,
      EventRecorder events,
      StasisMetrics metrics,
      CompletionMetrics tally,
      Changes changes) {}

  private TestOperator(
      Operator operator,
      Informers informers,
      SimpleMeterRegistry registry,
      RequestCounter requests,
      KubernetesClient client) {
    this.operator = operator;
    this.informers = informers;
    this.registry = registry;
    this.requests = requests;
    this.client = client;
  }

  /** Starts it; it runs until it is closed. */
  public static TestOperator start(
      RealCluster cluster, Clock clock, List<Function<Parts, Reconciler<?>>> reconcilers) {
    return start(cluster, cluster.config(), clock, reconcilers);
  }

  /** The same with other settings than those of a test. */
  public static TestOperator start(
      RealCluster cluster,
      StasisConfig config,
      Clock clock,
      List<Function<Parts, Reconciler<?>>> reconcilers) {
    RequestCounter requests = new RequestCounter();
    KubernetesClient client = requests.counted(cluster.client());
    Informers informers = new Informers(client, config);
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    Parts parts =
        new Parts(
            client,
            config,
            clock,
            informers,
            OperationParts.operations(client, informers, config),
            OperationParts.source(informers),
            PodParts.writes(client, clock),
            EventParts.events(client, clock),
            new StasisMetrics(registry),
            new CompletionMetrics(informers),
            new Changes(ClusterParts.serialization()));
    Operator operator =
        new Operator(
            settings ->
                settings
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    // Who is started anew is alone, as a process is whose forerunner has ended.
                    .withReconciliationTerminationTimeout(LAST_WORK)
                    .withUseSSAToPatchPrimaryResource(false));
    // Rate limits protect a busy API server; here each would cost seconds of waiting.
    reconcilers.forEach(
        make ->
            operator.register(
                make.apply(parts),
                settings -> settings.withRateLimiter(LinearRateLimiter.deactivatedRateLimiter())));
    operator.start();
    return new TestOperator(operator, informers, registry, requests, client);
  }

  /** How often something was counted. */
  public double counted(String name) {
    return registry.find(name).counters().stream().mapToDouble(counter -> counter.count()).sum();
  }

  /** What it has asked the API server. */
  public RequestCounter requests() {
    return requests;
  }

  @Override
  public void close() {
    operator.stop();
    ClusterParts.stop(informers);
    client.close();
  }
}
