package dev.stasis.operator.cli;

import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintStream;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code helm test}: checkpoints, deletes and restores a small pod on a GPU, which must continue to
 * count. Exit code 0: this cluster supports it.
 */
public final class SmokeTest {

  /** The test failed, and the log has the reason. */
  static final int FAILED = 1;

  /** On a busy node a request to the API server took longer than the client's ten seconds. */
  private static final int PATIENCE_MILLISECONDS = 60_000;

  /** The number of steps that shows that the program works. */
  private static final int STEPS = 3;

  private final SmokeTestSettings settings;
  private final SmokeTestCluster cluster;
  private final PrintStream out;

  SmokeTest(SmokeTestSettings settings, SmokeTestCluster cluster, PrintStream out) {
    this.settings = settings;
    this.cluster = cluster;
    this.out = out;
  }

  /**
   * Arguments: {@code --namespace}, {@code --name}, {@code --image} and others, as in the chart.
   */
  public static void main(String[] arguments) {
    SmokeTestSettings settings = SmokeTestSettings.of(arguments);
    Config config =
        new ConfigBuilder(Config.autoConfigure(null))
            .withConnectionTimeout(PATIENCE_MILLISECONDS)
            .withRequestTimeout(PATIENCE_MILLISECONDS)
            .build();
    try (KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(config)
            .withKubernetesSerialization(new TolerantSerialization())
            .build()) {
      SmokeTestCluster cluster = new SmokeTestCluster(client, settings, Clock.systemUTC());
      System.exit(new SmokeTest(settings, cluster, System.out).run());
    }
  }

  int run() {
    try {
      cluster.clear();
      play();
      out.println("test: passed");
      return 0;
    } catch (SmokeTestFailure failure) {
      out.println("test: failed: " + failure.getMessage());
    } catch (KubernetesClientException refused) {
      out.println("test: the cluster refused: " + refused.getMessage());
    } finally {
      cleanUp();
    }
    out.println("See: kubectl stasis doctor");
    return FAILED;
  }

  private void cleanUp() {
    try {
      cluster.clear();
    } catch (SmokeTestFailure | KubernetesClientException left) {
      out.println("test: not deleted in " + settings.namespace() + ": " + left.getMessage());
    }
  }

  private void play() {
    cluster.create(SmokeTestPod.of(settings));
    cluster.steps(settings.name(), 0, STEPS);
    out.printf("test: pod %s is running on its GPU%n", settings.name());

    long asked = cluster.lastStep(settings.name());
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(named());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of(settings.name()));
    cluster.create(checkpoint);
    GpuCheckpoint ready =
        cluster.await(GpuCheckpoint.class, "a checkpoint that is Ready", SmokeTest::isOver);
    succeeded(ready, ready.getStatus(), ConditionType.READY);
    out.println("test: checkpointed: " + Objects.requireNonNull(ready.getStatus()).getMessage());
    List<CountedStep> after =
        cluster.steps(settings.name(), cluster.lastStep(settings.name()), STEPS);
    SavedSteps saved = new SavedSteps(asked, after.get(after.size() - 1).number());

    cluster.delete(SmokeTestPod.of(settings));
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(named());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(settings.name()));
    cluster.create(restore);
    GpuRestore back = cluster.await(GpuRestore.class, "a restore that succeeds", SmokeTest::isOver);
    succeeded(back, back.getStatus(), ConditionType.SUCCEEDED);
    CountedStep first = cluster.steps(settings.name(), 0, STEPS).get(0);
    saved.mustPrecede(first);
    out.printf("test: restored: it continues at step %d%n", first.number());
  }

  private ObjectMeta named() {
    return new ObjectMetaBuilder()
        .withNamespace(settings.namespace())
        .withName(settings.name())
        .build();
  }

  private static boolean isOver(HasMetadata object) {
    ConditionedStatus status =
        object instanceof GpuCheckpoint checkpoint
            ? checkpoint.getStatus()
            : ((GpuRestore) object).getStatus();
    return Stream.of(ConditionType.READY, ConditionType.SUCCEEDED, ConditionType.FAILED)
        .anyMatch(Conditions.of(status)::isTrue);
  }

  private static void succeeded(
      HasMetadata object, @Nullable ConditionedStatus status, ConditionType type) {
    if (!Conditions.of(status).isTrue(type)) {
      throw new SmokeTestFailure(
          "%s %s: expected %s, got %s: %s"
              .formatted(
                  object.getKind(),
                  object.getMetadata().getName(),
                  type.value(),
                  status == null ? "nothing" : status.getReason(),
                  status == null ? "" : status.getMessage()));
    }
  }
}
