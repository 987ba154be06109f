package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.TestConfig;
import org.junit.jupiter.api.Test;

/** With four at a time in the cluster, three of one namespace. */
class ThrottleTest {

  private final Throttle throttle = new Throttle(new FakeCluster(), TestConfig.usual());

  @Test
  void oneNamespaceLeavesRoomForTheMigrationsOfOthers() {
    for (int i = 1; i <= 3; i++) {
      assertThat(throttle.take(migration("greedy", i), "gpu-" + i)).isEmpty();
    }

    assertThat(throttle.take(migration("greedy", 4), "gpu-4"))
        .contains("migrations of namespace greedy: wanted fewer than 3, found 3");
    assertThat(throttle.take(migration("ml", 1), "gpu-4")).isEmpty();

    throttle.giveBack(migration("ml", 1));
    throttle.giveBack(migration("greedy", 1));
    assertThat(throttle.take(migration("greedy", 4), "gpu-4")).isEmpty();
  }

  private static GpuMigration migration(String namespace, int number) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setNamespace(namespace);
    migration.getMetadata().setName("m-" + number);
    migration.getMetadata().setUid(namespace + "-" + number);
    return migration;
  }
}
