package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicySpec;
import dev.stasis.api.v1beta1.policy.Preemptors;
import dev.stasis.api.v1beta1.policy.Victims;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.operator.checkpoint.CheckpointParts;
import dev.stasis.operator.node.NodeParts;
import dev.stasis.operator.preemption.PolicyParts;
import dev.stasis.operator.restore.RestoreParts;
import dev.stasis.operator.schedule.ScheduleParts;
import dev.stasis.operator.store.StoreParts;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.TestConfig;
import dev.stasis.operator.testing.TestOperator;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What an object costs the API server while it waits and nothing changes, in every state in which
 * one waits, with the waits of the product: at most one request a minute.
 */
@SuppressWarnings("NullAway") // what is not there fails the test
@Tag("long")
class WaitingObjectsApiServerTest extends OnApiServer {

  /**
   * By then every wait that doubles is as long as it gets; no deadline is over yet, and none is
   * over before the end of the test: ten minutes after its last heartbeat a node loses its labels,
   * and what waits for a node looks at once.
   */
  private static final Duration WAITED = Duration.ofMinutes(6);

  /** The product's: all that was due before the jump of the clock is observed by then. */
  private static final Duration POLL = Duration.ofSeconds(15);

  /** Requests a minute apart come twice in it, even if the last one is counted ten seconds late. */
  private static final Duration OBSERVED = Duration.ofSeconds(110);

  private static final int MOST = 2;

  private static final Map<String, String> NOWHERE = Map.of("no", "where");

  private WaitingObjects waiting;
  private String source;
  private String target;
  private String full;
  private String silent;

  @Override
  void startOperator() {
    operator =
        TestOperator.start(
            cluster,
            new TestConfig(cluster.config().namespace(), POLL),
            clock,
            List.of(
                MigrationParts::reconciler,
                NodeParts::reconciler,
                CheckpointParts::reconciler,
                RestoreParts::reconciler,
                ScheduleParts::reconciler,
                StoreParts::reconciler,
                PolicyParts::reconciler));
  }

  @Test
  void anObjectThatWaitsCostsAtMostOneRequestAMinute() {
    waiting = new WaitingObjects(cluster, trainer());
    source = extra("source", 64);
    target = extra("target", 64);
    full = extra("full", 1);
    silent = extra("silent", 8);
    try {
      operator.close();
      saved();
      startOperator();
      waiting.pod(waiting.namespace("Pod: has the last GPU"), full);
      finished();
      checkpoints();
      restores();
      migrations();
      others();
      heartbeats.silence(silent);
      later(WAITED);
      ofSilentAgents();
      pass(POLL.multipliedBy(2));

      int before = operator.requests().of("").size();
      Map<String, String> owners = waiting.owners();
      pass(OBSERVED);
      List<String> all = operator.requests().of("");
      RequestTable table = RequestTable.of(all.subList(before, all.size()), owners);
      table.print(OBSERVED);
      assertThat(table.requests())
          .allSatisfy((state, each) -> assertThat(each).as(state).hasSizeLessThanOrEqualTo(MOST));
    } finally {
      waiting.delete();
      client.resources(GpuPreemptionPolicy.class).withName(policy()).delete();
      List.of(source, target, full, silent)
          .forEach(node -> client.resources(GpuNode.class).withName(node).delete());
    }
  }

  private String extra(String of, int gpus) {
    String name = RealCluster.name(of, namespace);
    node(name, gpus);
    return name;
  }

  private static Map<String, String> on(String node) {
    return Map.of("kubernetes.io/hostname", node);
  }

  /** Written while no operator runs, which would refuse them: their pods are gone. */
  private void saved() {
    waiting.saved(waiting.namespace("GpuRestore: Succeeded"), "train", null);
    waiting.saved(waiting.namespace("GpuRestore: Succeeded, its pod is gone"), "train", null);
    waiting.saved(waiting.namespace("GpuCheckpoint: Ready"), WaitingObjects.NAME, null);
    waiting.saved(waiting.namespace("GpuRestore: no node fits"), "train", null);
    waiting.savedOfReplicaSet(waiting.namespace("GpuRestore: its controller is scaled to zero"));
    waiting.saved(waiting.namespace("GpuRestore: a quota refuses the target"), "train", null);
    waiting.saved(waiting.namespace("GpuRestore: its target is not scheduled"), "train", null);
    waiting.saved(waiting.namespace("GpuRestore: no agent has claimed it"), "train", null);
    waiting.saved(waiting.namespace("GpuRestore: Restoring"), "train", null);
    waiting.saved(
        waiting.namespace("GpuCheckpoint: deleted, its agent is silent"),
        WaitingObjects.NAME,
        silent);
  }

  /** Before anything is stopped. */
  private void finished() {
    String ns = waiting.in("GpuRestore: Succeeded");
    waiting.restore(ns, on(target));
    waiting.untilRestore(ns, RestorePhase.SUCCEEDED);
    ns = waiting.in("GpuRestore: Succeeded, its pod is gone");
    waiting.restore(ns, on(target));
    waiting.untilRestore(ns, RestorePhase.SUCCEEDED);
    client.pods().inNamespace(ns).delete();
    ns = waiting.namespace("GpuMigration: Succeeded, its source is gone");
    waiting.pod(ns, source);
    waiting.migration(ns, on(target), spec -> {});
    waiting.untilMigration(ns, MigrationPhase.SUCCEEDED);
  }

  private void checkpoints() {
    String ns = waiting.namespace("GpuCheckpoint: Suspended");
    waiting.pod(ns, source);
    waiting.checkpoint(ns, spec -> spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND));
    waiting.untilCheckpoint(ns, CheckpointPhase.SUSPENDED);
    ns = waiting.namespace("GpuCheckpoint: Pending, a budget refuses the eviction");
    waiting.pod(ns, source);
    waiting.budget(ns);
    waiting.checkpoint(ns, spec -> spec.setAfterCheckpoint(AfterCheckpoint.EVICT));
    waiting.untilReason(ns, "EvictionRefused");
    agents.stopFreezes();
    ns = waiting.namespace("GpuCheckpoint: frozen and saved, a budget refuses the eviction");
    waiting.pod(ns, source);
    waiting.checkpoint(ns, spec -> spec.setAfterCheckpoint(AfterCheckpoint.EVICT));
    waiting.untilCheckpoint(ns, CheckpointPhase.FREEZING);
    waiting.budget(ns);
    agents.freezesGoOn();
    waiting.untilReason(ns, "EvictionRefused");
    ns = waiting.namespace("GpuCheckpoint: no agent has claimed it");
    agents.unclaimed.add(ns);
    waiting.pod(ns, source);
    waiting.checkpoint(ns, spec -> {});
    waiting.untilReason(ns, "WaitingForAgent");
  }

  private void restores() {
    String ns = waiting.namespace("GpuRestore: there is no checkpoint");
    waiting.restore(ns, "missing", Map.of());
    waiting.untilRestore(ns, RestorePhase.PENDING);
    ns = waiting.in("GpuRestore: no node fits");
    waiting.restore(ns, NOWHERE);
    waiting.untilRestore(ns, RestorePhase.PENDING);
    ns = waiting.in("GpuRestore: its controller is scaled to zero");
    waiting.restore(ns, Map.of());
    waiting.untilRestore(ns, RestorePhase.PENDING);
    ns = waiting.in("GpuRestore: a quota refuses the target");
    waiting.quota(ns, 0);
    waiting.restore(ns, on(target));
    waiting.untilRestore(ns, RestorePhase.PENDING);
    ns = waiting.in("GpuRestore: its target is not scheduled");
    waiting.restore(ns, on(full));
    waiting.untilPods(ns, 1);
    ns = waiting.in("GpuRestore: no agent has claimed it");
    agents.unclaimed.add(ns);
    waiting.restore(ns, on(target));
    waiting.untilPods(ns, 1);
  }

  private void migrations() {
    agents.stop(OperationType.RESTORE);
    String ns = waiting.in("GpuRestore: Restoring");
    waiting.restore(ns, on(target));
    waiting.untilRestore(ns, RestorePhase.RESTORING);
    ns = waiting.namespace("GpuMigration: Restoring");
    waiting.pod(ns, target);
    waiting.migration(ns, on(source), spec -> {});
    waiting.untilMigration(ns, MigrationPhase.RESTORING);
    ns = waiting.namespace("GpuMigration: source first, its restore runs");
    share();
    waiting.pod(ns, target);
    waiting.migration(
        ns,
        on(source),
        spec -> {
          spec.setStrategy(MigrationStrategy.RECREATE);
          spec.setStorageRef(NameReference.ofNullable(shared));
        });
    waiting.untilMigration(ns, MigrationPhase.RESTORING);
    agents.stopFreezes();
    ns = waiting.namespace("GpuCheckpoint: Freezing");
    waiting.pod(ns, source);
    waiting.checkpoint(ns, spec -> {});
    waiting.untilCheckpoint(ns, CheckpointPhase.FREEZING);
    ns = waiting.namespace("GpuMigration: no agent has claimed the inspection");
    agents.unclaimed.add(ns);
    waiting.pod(ns, source);
    waiting.migration(ns, on(target), spec -> {});
    waiting.untilMigration(ns, MigrationPhase.PENDING);
    ns = waiting.namespace("GpuMigration: no node fits");
    waiting.pod(ns, source);
    waiting.migration(ns, NOWHERE, spec -> {});
    waiting.untilMigration(ns, MigrationPhase.PENDING);
    ns = waiting.namespace("GpuMigration: a quota refuses the target");
    waiting.pod(ns, source);
    waiting.quota(ns, 1);
    waiting.migration(ns, on(target), spec -> {});
    waiting.untilMigration(ns, MigrationPhase.PENDING);
    ns = waiting.namespace("GpuMigration: the target of a Job's pod is not scheduled");
    String job = ns;
    waiting.pod(ns, source, pod -> waiting.ofJob(job, pod));
    waiting.migration(ns, on(full), spec -> {});
    waiting.untilMigration(ns, MigrationPhase.TARGET_STARTING);
    ns = waiting.namespace("GpuMigration: Freezing");
    waiting.pod(ns, source);
    waiting.migration(ns, on(target), spec -> {});
    waiting.untilMigration(ns, MigrationPhase.FREEZING);
    ns = waiting.namespace("GpuMigration: too many migrations");
    waiting.pod(ns, source);
    waiting.migration(ns, on(target), spec -> {});
    waiting.until(
        GpuMigration.class,
        ns,
        WaitingObjects.NAME,
        it -> "TooManyMigrations".equals(condition(it, "Succeeded").reason()));
  }

  private void others() {
    String ns = waiting.namespace("GpuCheckpointSchedule: no pod matches");
    waiting.schedule(ns, "nobody");
    waiting.untilSchedule(ns);
    ns = waiting.namespace("GpuCheckpointSchedule: the next run is next year");
    waiting.pod(ns, source);
    waiting.schedule(ns, "train");
    waiting.untilSchedule(ns);
    GpuPreemptionPolicy policy = new GpuPreemptionPolicy();
    policy.getMetadata().setName(policy());
    policy.setSpec(new GpuPreemptionPolicySpec());
    policy.getSpec().setVictims(new Victims(null, null, 0));
    policy.getSpec().setPreemptors(new Preemptors(null, null, 1));
    client.resource(policy).create();
    waiting.states.put(policy(), "GpuPreemptionPolicy: watching");
    waiting.states.put(local, "GpuCheckpointStore: Ready");
  }

  private String policy() {
    return RealCluster.name("policy", namespace);
  }

  /** As of now, their heartbeats are too old. */
  private void ofSilentAgents() {
    String ns = waiting.namespace("GpuCheckpoint: of a Job's pod, its agent is silent");
    String job = ns;
    waiting.pod(ns, silent, pod -> waiting.ofJob(job, pod));
    waiting.checkpoint(ns, spec -> {});
    waiting.untilReason(ns, "NodeSilent");
    ns = waiting.in("GpuCheckpoint: deleted, its agent is silent");
    String deleted = ns;
    waiting.until(
        GpuCheckpoint.class,
        ns,
        WaitingObjects.NAME,
        it -> !it.getMetadata().getFinalizers().isEmpty());
    client.resources(GpuCheckpoint.class).inNamespace(deleted).delete();
  }

  private static void pass(Duration time) {
    Instant end = Instant.now().plus(time);
    await().atMost(LONG).until(() -> Instant.now().isAfter(end));
  }

  private void share() {
    var store = new dev.stasis.api.v1beta1.GpuCheckpointStore();
    store.getMetadata().setName(shared);
    store.setSpec(new dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec());
    store
        .getSpec()
        .setLocation(StoreLocation.of(new dev.stasis.api.v1beta1.store.SharedPath("/mnt/shared")));
    client.resource(store).create();
  }
}
