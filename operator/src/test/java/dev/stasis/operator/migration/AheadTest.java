package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Peer;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Both ends of the stream are ready before the source is touched, and never needed. */
@SuppressWarnings("NullAway") // what is not there fails the test
class AheadTest {

  private final Moving moving = new Moving();

  @Test
  void bothEndsAreReadyBeforeTheSourceIsTouched() {
    moving.holding();
    Next.Receive receive = (Next.Receive) moving.next();
    assertThat(receive.artifact()).isEmpty();

    moving.operation(OperationType.RECEIVE, 1, "there", OperationPhase.RUNNING);
    assertThat(((Next.Wait) moving.next()).phase()).isEqualTo(MigrationPhase.TARGET_STARTING);

    moving.get(OperationType.RECEIVE, 1).getStatus().setListening("10.0.0.2:8743");
    Next.Send send = (Next.Send) moving.next();
    assertThat(send.artifact()).isEmpty();
    assertThat(send.address()).isEqualTo("10.0.0.2:8743");

    assertThat(moving.connected().next()).isInstanceOf(Next.Freeze.class);
  }

  @Test
  void anEndThatCannotGoAheadDoesNotKeepTheSourceFromBeingMoved() {
    moving.connected().end(OperationType.RECEIVE, 1, OperationPhase.FAILED);
    assertThat(moving.next()).isInstanceOf(Next.Freeze.class);

    moving.connected().end(OperationType.SEND, 1, OperationPhase.FAILED);
    assertThat(moving.next()).isInstanceOf(Next.Freeze.class);
  }

  @Test
  void throughAStoreThatBothReachNothingGoesAhead() {
    moving.holding();
    moving.store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/shared")));
    assertThat(moving.next()).isInstanceOf(Next.Freeze.class);
  }

  @Test
  void anArtifactSentDuringTheFreezeIsRestoredOnceTheSourceIsHeld() {
    moving.connected();
    moving.held();
    moving.end(OperationType.RECEIVE, 1, OperationPhase.SUCCEEDED);
    moving.get(OperationType.RECEIVE, 1).getStatus().setArtifact(Moving.artifact("there"));
    moving.end(OperationType.SEND, 1, OperationPhase.SUCCEEDED);

    assertThat(moving.next()).isInstanceOf(Next.Restore.class);
  }

  @Test
  void anotherArtifactThanTheOneThatIsHeldIsSentAgain() {
    moving.connected();
    moving.held();
    moving.end(OperationType.RECEIVE, 1, OperationPhase.SUCCEEDED);
    moving.get(OperationType.RECEIVE, 1).getStatus().setArtifact(Moving.artifact("there"));
    moving.get(OperationType.RECEIVE, 1).getStatus().getArtifact().setSha256("cd".repeat(32));
    moving.end(OperationType.SEND, 1, OperationPhase.SUCCEEDED);

    Next.Receive again = (Next.Receive) moving.next();
    assertThat(again.number()).isEqualTo(2);
    assertThat(again.artifact().orElseThrow().getSha256()).isEqualTo("ab".repeat(32));
  }

  @Test
  void aBrokenEarlyTransferIsRepeatedWithTheCompleteArtifact() {
    moving.connected();
    moving.held();
    moving.end(OperationType.SEND, 1, OperationPhase.FAILED);

    assertThat(((Next.Cancel) moving.next()).operation().type()).isEqualTo(OperationType.RECEIVE);
    moving.get(OperationType.RECEIVE, 1).getSpec().setCancel(true);
    moving.end(OperationType.RECEIVE, 1, OperationPhase.CANCELLED);
    assertThat(((Next.Receive) moving.next()).number()).isEqualTo(2);
  }

  @Test
  void anotherTargetGetsAStreamOfItsOwn() {
    moving.connected();
    moving.get(OperationType.RECEIVE, 1).getSpec().setNodeName("elsewhere");

    assertThat(((Next.Cancel) moving.next()).operation().type()).isEqualTo(OperationType.SEND);
    moving.get(OperationType.SEND, 1).getSpec().setCancel(true);
    assertThat(((Next.Cancel) moving.next()).operation().type()).isEqualTo(OperationType.RECEIVE);
    moving.get(OperationType.RECEIVE, 1).getSpec().setCancel(true);
    Next.Receive again = (Next.Receive) moving.next();
    assertThat(again.number()).isEqualTo(2);
    assertThat(again.to()).isEqualTo("there");
  }

  @Test
  void aRestartedAgentGetsAStreamWithItsNewKey() {
    for (OperationType end : new OperationType[] {OperationType.RECEIVE, OperationType.SEND}) {
      Moving one = new Moving().connected();
      one.get(end, 1)
          .getSpec()
          .getTransfer()
          .setPeer(new Peer(end == OperationType.SEND ? "there" : "here", null, "key of before"));
      assertThat(one.next()).as(end.value()).isInstanceOf(Next.Cancel.class);

      one.held();
      assertThat(one.next()).as(end + " after the freeze").isInstanceOf(Next.Cancel.class);
    }
  }

  @Test
  void repeatedAgentRestartsDoNotPreventTheMigration() {
    moving.holding();
    moving
        .operation(OperationType.RECEIVE, 3, "there", OperationPhase.RUNNING)
        .getSpec()
        .setCancel(true);
    moving
        .get(OperationType.RECEIVE, 3)
        .getSpec()
        .getTransfer()
        .setPeer(new Peer("here", null, "key of before"));

    assertThat(Objects.requireNonNull(moving.next())).isInstanceOf(Next.Freeze.class);
  }
}
