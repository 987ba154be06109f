package dev.stasis.operator.cli;

import dev.stasis.api.skew.TolerantSerialization;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
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
import org.jspecify.annotations.Nullable;

/**
 * {@code helm test}: a small pod on a GPU is checkpointed, deleted and restored, and has to count
 * on from where it was. Exit code 0: this cluster can do it.
 */
public final class Trial {

  /** It cannot, and the log says why. */
  static final int FAILED = 1;

  /** On a busy node the way to the API server has taken more than the ten seconds of the client. */
  private static final int PATIENCE_MILLISECONDS = 60_000;

  /** So many steps of the program show that it works. */
  private static final int STEPS = 3;

  private final TrialSettings settings;
  private final TrialCluster cluster;
  private final PrintStream out;

  Trial(TrialSettings settings, TrialCluster cluster, PrintStream out) {
    this.settings = settings;
    this.cluster = cluster;
    this.out = out;
  }

  /** Arguments: {@code --namespace}, {@code --name}, {@code --image} and more, as the chart has. */
  public static void main(String[] arguments) {
    TrialSettings settings = TrialSettings.of(arguments);
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
      TrialCluster cluster = new TrialCluster(client, settings, Clock.systemUTC());
      System.exit(new Trial(settings, cluster, System.out).run());
    }
  }

  int run() {
    try {
      cluster.clear();
      play();
      out.println("test: passed");
      return 0;
    } catch (TrialFailure failure) {
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
    } catch (TrialFailure | KubernetesClientException left) {
      out.println("test: left behind in " + settings.namespace() + ": " + left.getMessage());
    }
  }

  private void play() {
    cluster.create(TrialPod.of(settings));
    cluster.steps(settings.name(), 0, STEPS);
    out.printf("test: pod %s counts on its GPU%n", settings.name());

    long asked = cluster.lastStep(settings.name());
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(named());
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodName(settings.name());
    cluster.create(checkpoint);
    GpuCheckpoint ready =
        cluster.await(GpuCheckpoint.class, "a checkpoint that is Ready", Trial::isOver);
    succeeded(ready, ready.getStatus(), "Ready");
    out.println("test: checkpointed: " + Objects.requireNonNull(ready.getStatus()).getMessage());
    List<CountedStep> after =
        cluster.steps(settings.name(), cluster.lastStep(settings.name()), STEPS);
    SavedSteps saved = new SavedSteps(asked, after.get(after.size() - 1).number());

    cluster.delete(TrialPod.of(settings));
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(named());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointName(settings.name());
    cluster.create(restore);
    GpuRestore back = cluster.await(GpuRestore.class, "a restore that succeeds", Trial::isOver);
    succeeded(back, back.getStatus(), "Succeeded");
    CountedStep first = cluster.steps(settings.name(), 0, STEPS).get(0);
    saved.mustPrecede(first);
    out.printf("test: restored: it counts on from step %d%n", first.number());
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
    return is(status, "Ready") || is(status, "Succeeded") || is(status, "Failed");
  }

  private static boolean is(@Nullable ConditionedStatus status, String type) {
    return status != null
        && status.getConditions() != null
        && status.getConditions().stream()
            .anyMatch(one -> one.type().equals(type) && one.status() == Truth.TRUE);
  }

  private static void succeeded(
      HasMetadata object, @Nullable ConditionedStatus status, String type) {
    if (!is(status, type)) {
      throw new TrialFailure(
          "%s %s: wanted %s, found %s: %s"
              .formatted(
                  object.getKind(),
                  object.getMetadata().getName(),
                  type,
                  status == null ? "nothing" : status.getReason(),
                  status == null ? "" : status.getMessage()));
    }
  }
}
