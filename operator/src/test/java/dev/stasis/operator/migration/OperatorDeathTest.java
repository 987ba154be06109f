package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * An operator that dies after it gave an order and before it wrote the phase: the next one finds
 * the agents further along than the status says. A source may be frozen then.
 */
class OperatorDeathTest {

  private static final Map<String, Consumer<Moving>> REACHED =
      Map.of(
          "freezing", Moving::freezing,
          "held", Moving::held,
          "sending", Moving::sending,
          "restoring", Moving::restoring,
          "proven", Moving::proven);

  @TestFactory
  Stream<DynamicTest> theNextOperatorContinuesWhereTheAgentsAre() {
    return Stream.of(
            MigrationPhase.TARGET_STARTING,
            MigrationPhase.FREEZING,
            MigrationPhase.TRANSFERRING,
            MigrationPhase.RESTORING)
        .flatMap(
            written ->
                REACHED.entrySet().stream()
                    .map(
                        reached ->
                            DynamicTest.dynamicTest(
                                "wrote %s, agents %s".formatted(written, reached.getKey()),
                                () -> continues(written, reached.getValue()))));
  }

  private static void continues(MigrationPhase written, Consumer<Moving> reached) {
    Moving moving = new Moving();
    reached.accept(moving);
    moving.status().setPhase(written);
    moving.status().setPhases(List.of(new PhaseTime<>(written, Moving.NOW)));
    moving.status().setTarget(new ObservedPod("trainer-abcde", "target-uid", "main", "there"));
    View view = moving.view();
    Ledger ledger = new Ledger(moving.migration, Clock.fixed(Moving.NOW, ZoneOffset.UTC));

    Next next = moving.next();
    if (next instanceof Next.Wait wait) {
      ledger.waits(wait, view);
    } else if (next instanceof Next.Receive || next instanceof Next.Send) {
      ledger.ordered(MigrationPhase.TRANSFERRING, "next", true, "asked");
    } else if (next instanceof Next.Restore) {
      ledger.ordered(MigrationPhase.RESTORING, "next", false, "asked");
    } else if (next instanceof Next.SwitchOver proven) {
      ledger.switchesOver(view, proven);
      assertThat(moving.status().getCommitment()).isNotNull();
    } else {
      throw new AssertionError("expected the migration to continue, got " + next);
    }
  }
}
