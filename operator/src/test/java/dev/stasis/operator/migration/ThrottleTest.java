package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.TestConfig;
import org.junit.jupiter.api.Test;

/** With four at a time in the cluster, three of one namespace, and two that leave one node. */
class ThrottleTest {

  private final FakeCluster cluster = new FakeCluster();
  private final Throttle throttle = new Throttle(cluster, TestConfig.usual());

  @Test
  void oneNamespaceLeavesRoomForTheMigrationsOfOthers() {
    GpuMigration first = migration("greedy", 1);
    GpuMigration fourth = migration("greedy", 4);
    GpuMigration other = migration("ml", 1);
    assertThat(throttle.take(first, "gpu-1")).isEmpty();
    assertThat(throttle.take(migration("greedy", 2), "gpu-2")).isEmpty();
    assertThat(throttle.take(migration("greedy", 3), "gpu-3")).isEmpty();

    assertThat(throttle.take(fourth, "gpu-4"))
        .contains("migrations of namespace greedy: expected fewer than 3, got 3");
    assertThat(throttle.take(other, "gpu-4")).isEmpty();

    throttle.giveBack(other);
    throttle.giveBack(first);
    assertThat(throttle.take(fourth, "gpu-4")).isEmpty();
  }

  @Test
  void oneThatWaitsForSomethingElseLeavesItsTurnToTheNext() {
    GpuMigration first = migration("ml", 1);
    GpuMigration third = migration("ml", 3);
    assertThat(throttle.take(first, "here")).isEmpty();
    assertThat(throttle.take(migration("ml", 2), "here")).isEmpty();
    assertThat(throttle.take(third, "here"))
        .contains("migrations from node here: expected fewer than 2, got 2");

    throttle.giveBack(first);
    assertThat(throttle.take(third, "here")).isEmpty();
    assertThat(throttle.take(first, "here")).isPresent();
  }

  @Test
  void aMigrationThatWasDeletedWithoutNoticeReleasesItsTurn() {
    GpuMigration first = migration("ml", 1);
    throttle.take(first, "here");
    throttle.take(migration("ml", 2), "here");
    cluster.migrations.remove(first);

    assertThat(throttle.take(migration("ml", 3), "here")).isEmpty();
  }

  private GpuMigration migration(String namespace, int number) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setNamespace(namespace);
    migration.getMetadata().setName("m-" + number);
    migration.getMetadata().setUid(namespace + "-" + number);
    cluster.migrations.add(migration);
    return migration;
  }
}
