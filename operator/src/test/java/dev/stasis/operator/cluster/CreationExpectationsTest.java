package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nobody is frozen for an object that went before the watch had shown its order. */
class CreationExpectationsTest {

  private final CreationExpectations unseen = new CreationExpectations();

  @Test
  void anOperationThatTheWatchDoesNotShowYetIsIncluded() {
    unseen.made(operation("ours", 1));
    assertThat(unseen.with(List::of, any -> true)).hasSize(1);
    assertThat(unseen.with(List::of, any -> false)).isEmpty();
  }

  @Test
  void theStateOfTheWatchTakesPrecedence() {
    unseen.made(operation("ours", 1));
    GpuNodeOperation shown = operation("ours", 2);
    GpuNodeOperation other = operation("other", 1);
    assertThat(unseen.with(() -> List.of(shown, other), any -> true)).containsExactly(shown, other);
  }

  @Test
  void anOperationThatTheWatchShowsMeanwhileIsIncludedOnce() {
    unseen.made(operation("ours", 1));
    GpuNodeOperation shown = operation("ours", 1);
    List<GpuNodeOperation> all =
        unseen.with(
            () -> {
              unseen.forget(operation("ours", 1));
              return List.of(shown);
            },
            any -> true);
    assertThat(all).containsExactly(shown);
  }

  @Test
  void aForgottenOperationIsNoLongerExpected() {
    unseen.made(operation("ours", 1));
    unseen.forget(operation("ours", 1));
    assertThat(unseen.with(List::of, any -> true)).isEmpty();
  }

  @Test
  void aRecreatedOperationIsNotMistakenForTheDeletedOne() {
    GpuNodeOperation gone = operation("ours", 1);
    GpuNodeOperation anew = operation("ours", 1);
    anew.getMetadata().setUid("anew");
    unseen.made(anew);
    assertThat(unseen.with(() -> List.of(gone), any -> true)).containsExactly(anew);
    unseen.forget(gone);
    assertThat(unseen.with(List::of, any -> true)).containsExactly(anew);
  }

  private static GpuNodeOperation operation(String name, long generation) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setMetadata(
        new ObjectMetaBuilder().withName(name).withGeneration(generation).build());
    return operation;
  }
}
