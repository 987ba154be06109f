package dev.stasis.operator.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import dev.stasis.api.v1beta1.node.GpuNodeSpec;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.uninstall.InstalledResources;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a real API server; the operator and the agents are played by the test. */
@OnTestCluster(definitions = true)
class UninstallApiServerTest {

  /** Seconds are usual. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final Condition EVICTED =
      new Condition("SourceRunning", ConditionValue.FALSE, "Evicted", "m", Instant.EPOCH, null);

  @SuppressWarnings("NullAway.Init") // made before the first test
  private static RealCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private String namespace;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  @BeforeAll
  static void begin() {
    cluster = RealCluster.fromEnvironment();
  }

  @BeforeEach
  void create() {
    namespace = cluster.namespace(Map.of());
  }

  @AfterEach
  void remove() {
    cluster.client().resources(GpuCheckpoint.class).inNamespace(namespace).delete();
    cluster.client().resources(GpuNode.class).withName(namespace).delete();
    cluster.client().namespaces().withName(namespace).delete();
  }

  @AfterAll
  static void end() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void suspendedWorkloadsAreResumedBeforeTheUninstall() throws Exception {
    GpuCheckpoint nap = checkpoint("nap", AfterCheckpoint.SUSPEND);
    status(nap, CheckpointPhase.SUSPENDED, null);
    CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> run(false, LIMIT));
    await()
        .atMost(LIMIT)
        .until(() -> fresh(nap).getSpec().getDesiredState() == DesiredState.RUNNING);
    assertThat(exit).isNotDone();
    status(fresh(nap), CheckpointPhase.PENDING, null);
    assertThat(exit.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isZero();
    assertThat(text()).contains("nap: spec.desiredState=Running").contains("Stasis can be removed");
  }

  @Test
  void anEvictedWorkloadIsARefusalWithTheCommandAndNothingIsTouched() {
    GpuCheckpoint gone = checkpoint("gone", AfterCheckpoint.EVICT);
    status(gone, CheckpointPhase.READY, EVICTED);
    assertThat(run(false, LIMIT)).isEqualTo(Uninstall.REFUSED);
    assertThat(text())
        .contains("is the only copy of the evicted pod trainer")
        .contains("kubectl stasis restore gone -n " + gone.getMetadata().getNamespace())
        .contains("uninstall.force=true");
    assertThat(run(true, LIMIT)).isZero();
  }

  @Test
  void aWorkloadThatIsEvictedDuringTheWaitBlocksTheUninstall() throws Exception {
    GpuCheckpoint away = checkpoint("away", AfterCheckpoint.EVICT);
    GpuCheckpoint nap = checkpoint("nap", AfterCheckpoint.SUSPEND);
    status(nap, CheckpointPhase.SUSPENDED, null);
    CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> run(false, LIMIT));
    await()
        .atMost(LIMIT)
        .until(() -> fresh(nap).getSpec().getDesiredState() == DesiredState.RUNNING);
    status(away, CheckpointPhase.SAVING, null);
    status(fresh(nap), CheckpointPhase.PENDING, null);
    status(fresh(away), CheckpointPhase.READY, EVICTED);
    assertThat(exit.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Uninstall.REFUSED);
    assertThat(text())
        .contains("refused; this has changed since the start")
        .contains("is the only copy of the evicted pod trainer")
        .contains("kubectl stasis restore away -n " + namespace);
  }

  @Test
  void onlyAForcedUninstallGivesUpAFrozenWorkloadWhoseNodeWasRemoved() {
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName(namespace).build());
    node.setSpec(new GpuNodeSpec());
    GpuNodeStatus status = new GpuNodeStatus();
    status.setFrozen(
        List.of(
            new FrozenWorkload(
                new ObjectReference("Pod", "ml", "trainer", "u"),
                null,
                null,
                null,
                "Frozen",
                null,
                null)));
    GpuNode created = cluster.client().resource(node).create();
    created.setStatus(status);
    cluster.client().resource(created).updateStatus();
    assertThat(run(false, LIMIT)).isEqualTo(Uninstall.REFUSED);
    assertThat(text())
        .contains("pod ml/trainer on node " + namespace + " is Frozen, but the node was removed")
        .contains("kubectl delete gpunode " + namespace);
    assertThat(run(true, LIMIT)).isZero();
    assertThat(text()).contains("forced, although GpuNode " + namespace);
  }

  @Test
  void aDeletedObjectDoesNotBlockTheUninstall() {
    GpuCheckpoint brief = checkpoint("brief", AfterCheckpoint.RESUME);
    GpuCheckpoint nap = checkpoint("snooze", AfterCheckpoint.SUSPEND);
    status(nap, CheckpointPhase.SUSPENDED, null);
    PrintStream deletes =
        new PrintStream(said, true, StandardCharsets.UTF_8) {
          @Override
          public void println(String line) {
            super.println(line);
            if (line.endsWith("=true") || line.endsWith("=Running")) {
              cluster.client().resource(line.contains("brief") ? brief : nap).delete();
            }
          }
        };
    assertThat(run(deletes, true, LIMIT)).isZero();
    assertThat(text())
        .contains("brief: spec.options.cancel=true", "brief was deleted in the meantime")
        .contains("snooze: spec.desiredState=Running", "snooze was deleted in the meantime")
        .contains("Stasis can be removed");
  }

  @Test
  void aWorkloadThatDoesNotResumeBlocksTheUninstall() {
    GpuCheckpoint nap = checkpoint("deep", AfterCheckpoint.SUSPEND);
    status(nap, CheckpointPhase.SUSPENDED, null);
    assertThat(run(false, Duration.ofSeconds(2))).isEqualTo(Uninstall.REFUSED);
    assertThat(text()).contains("deep is Suspended").contains("kubectl stasis doctor");
  }

  private int run(boolean force, Duration atMost) {
    return run(new PrintStream(said, true, StandardCharsets.UTF_8), force, atMost);
  }

  private int run(PrintStream out, boolean force, Duration atMost) {
    try (ClusterView view =
        new OwnView(cluster.client(), cluster.config().namespace(), namespace)) {
      return new Uninstall(view, out, Clock.systemUTC()).run(force, atMost);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** An uninstall concerns the whole cluster; here it sees the objects of one namespace only. */
  private static final class OwnView extends ClusterView {
    private final String namespace;

    OwnView(KubernetesClient client, String system, String namespace) {
      super(client, system, "stasis-operator");
      this.namespace = namespace;
    }

    @Override
    public InstalledResources read() {
      InstalledResources all = super.read();
      return new InstalledResources(
          own(all.checkpoints()),
          own(all.restores()),
          own(all.migrations()),
          all.operations(),
          all.nodes().stream().filter(it -> namespace.equals(it.getMetadata().getName())).toList(),
          all.removedNodes());
    }

    private <T extends HasMetadata> List<T> own(List<T> all) {
      return all.stream().filter(it -> namespace.equals(it.getMetadata().getNamespace())).toList();
    }
  }

  private String text() {
    return said.toString(StandardCharsets.UTF_8);
  }

  private GpuCheckpoint checkpoint(String name, AfterCheckpoint after) {
    GpuCheckpoint one = new GpuCheckpoint();
    one.setMetadata(new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodRef(PodReference.of("trainer"));
    spec.setAfterCheckpoint(after);
    one.setSpec(spec);
    return cluster.client().resource(one).create();
  }

  private static GpuCheckpoint fresh(GpuCheckpoint one) {
    return cluster.client().resource(one).get();
  }

  private static void status(
      GpuCheckpoint one, CheckpointPhase phase, @Nullable Condition condition) {
    cluster
        .client()
        .resource(one)
        .subresource("status")
        .edit(
            it -> {
              GpuCheckpointStatus status = new GpuCheckpointStatus();
              status.setPhase(phase);
              if (condition != null) {
                status.setConditions(List.of(condition));
              }
              it.setStatus(status);
              return it;
            });
  }
}
