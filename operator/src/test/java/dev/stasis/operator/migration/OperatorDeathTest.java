package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
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

  @Test
  void aSourceThatAnOperatorDiedBeforeWritingIsWrittenByTheNext() {
    Moving moving = new Moving().looked();
    moving.status().setSource(null);
    MigrationFakes fakes = new MigrationFakes();

    fakes.runner(fakes.targetFirst()).advance(moving.view());

    assertThat(moving.status().getSource())
        .isEqualTo(new ObservedPod("trainer", "source-uid", "main", "here"));
    assertThat(fakes.acts).isEmpty();
  }

  private static void continues(MigrationPhase written, Consumer<Moving> reached) {
    Moving moving = new Moving();
    reached.accept(moving);
    moving.status().setPhase(written);
    moving.status().setPhases(List.of(new PhaseTime<>(written, Moving.NOW)));
    moving.status().setTarget(new ObservedPod("trainer-abcde", "target-uid", "main", "there"));

    assertThat(moving.next())
        .isInstanceOfAny(
            Next.Wait.class,
            Next.Receive.class,
            Next.Send.class,
            Next.Restore.class,
            Next.SwitchOver.class);
  }
}
