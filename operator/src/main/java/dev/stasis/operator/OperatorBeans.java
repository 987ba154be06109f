package dev.stasis.operator;

import dev.stasis.operator.cluster.SharingSerialization;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.status.Changes;
import dev.stasis.trace.OtlpExporter;
import dev.stasis.trace.Spans;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.LaunchMode;
import io.quarkus.runtime.Quarkus;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;

/** Beans of types that are not our own. */
@Singleton
class OperatorBeans {

  /** The values of client-go's controllers: a dead leader is replaced within 17 s. */
  private static final Duration LEASE = Duration.ofSeconds(15);

  private static final Duration RENEW = Duration.ofSeconds(10);
  private static final Duration RETRY = Duration.ofSeconds(2);

  @Produces
  @Singleton
  Clock clock() {
    return Clock.systemUTC();
  }

  /**
   * Without leader election, as in the profiles for development and tests, this is the only
   * replica.
   */
  @Produces
  @Singleton
  Leadership leadership() {
    Leadership leadership = new Leadership();
    if (LaunchMode.current() != LaunchMode.NORMAL) {
      leadership.begin();
    }
    return leadership;
  }

  @Produces
  @Singleton
  LeaderElectionConfiguration leaderElection(StasisConfig config, Leadership leadership) {
    // The SDK exits by System.exit, even while the operator is being stopped. That waits for the
    // shutdown hook in which it is called, until the pod's grace period is over and the process is
    // killed.
    LeaderCallbacks leaving =
        new LeaderCallbacks(leadership::begin, () -> Quarkus.asyncExit(1), id -> {});
    return new LeaderElectionConfiguration(
        config.leaseName(),
        config.namespace(),
        LEASE,
        RENEW,
        RETRY,
        config.identity(),
        leaving,
        false);
  }

  /**
   * Created here because the extension creates its own before there is a registry, which then
   * counts nothing.
   */
  @Produces
  @Singleton
  Metrics metrics(MeterRegistry registry) {
    return MicrometerMetricsV2.newBuilder(registry).build();
  }

  @Produces
  @Singleton
  Spans spans(StasisConfig config) {
    return config
        .tracesEndpoint()
        .<Spans>map(
            endpoint ->
                new OtlpExporter(
                    endpoint,
                    Map.of(
                        "service.name",
                        "stasis-operator",
                        "service.instance.id",
                        config.identity())))
        .orElse(Spans.NONE);
  }

  void send(@Disposes Spans spans) {
    if (spans instanceof OtlpExporter exporter) {
      exporter.close();
    }
  }

  @Produces
  @Singleton
  Changes changes(SharingSerialization serialization) {
    return new Changes(serialization);
  }
}
