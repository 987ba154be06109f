package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import org.junit.jupiter.api.Test;

/** Of two migrations of one pod exactly one goes on, whoever looks. */
class PrecedenceTest {

  private final Precedence precedence = new Precedence();

  @Test
  void theEarlierRequestGoesFirst() {
    GpuMigration early = migration("b", "2026-03-01T10:00:00Z");
    GpuMigration late = migration("a", "2026-03-01T10:00:01Z");

    assertThat(precedence.compare(early, late)).isNegative();
    assertThat(precedence.compare(late, early)).isPositive();
  }

  @Test
  void withinOneSecondTheUidDecides() {
    GpuMigration one = migration("a", "2026-03-01T10:00:00Z");
    GpuMigration other = migration("b", "2026-03-01T10:00:00Z");

    assertThat(precedence.compare(one, other)).isNegative();
    assertThat(precedence.compare(other, one)).isPositive();
  }

  @Test
  void theOneThatHasATargetGoesFirstWhateverItsUid() {
    GpuMigration begun = migration("b", "2026-03-01T10:00:00Z");
    begun.getStatus().setTarget(new ObservedPod("trainer-2", "uid", "main", "gpu-2"));
    GpuMigration waiting = migration("a", "2026-03-01T10:00:00Z");

    assertThat(precedence.compare(begun, waiting)).isNegative();
    assertThat(precedence.compare(waiting, begun)).isPositive();
  }

  private static GpuMigration migration(String uid, String created) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setUid(uid);
    migration.getMetadata().setCreationTimestamp(created);
    migration.setStatus(new GpuMigrationStatus());
    return migration;
  }
}
