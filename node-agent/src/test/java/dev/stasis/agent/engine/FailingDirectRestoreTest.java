package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A restore on the direct data path fails while its keeper loads device memory. */
class FailingDirectRestoreTest {

  /** A keeper starts in milliseconds; a busy machine is given time. */
  private static final long LIMIT_SECONDS = 60;

  private final CountDownLatch loading = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  /** A frozen source may wait for the end of the restore. */
  @Test
  void itDoesNotWaitUntilEverythingIsLoaded() throws Exception {
    try (EngineLab lab = new EngineLab(1, 256)) {
      DirectLab direct = new DirectLab(lab);
      try (GpuContainer target = GpuContainer.start(direct.counter().asHolder());
          KeeperProxy proxy = new KeeperProxy(lab, target.id(), this::hold)) {
        assertThat(proxy).isNotNull();
        Restore failing =
            new Restore(
                lab.parts(), HookedStep.<Restoring, FrozenWork>all(Restore.steps(), this::fail));

        assertThat(EngineLab.restore(failing, saved(lab, direct), target))
            .isInstanceOf(RestoreOutcome.Failed.class);

        ended.countDown();
      }
      assertThat(direct.keepers("serve")).isEmpty();
    }
  }

  private static Path saved(EngineLab lab, DirectLab direct) throws InterruptedException {
    try (GpuContainer source = GpuContainer.start(direct.counter())) {
      source.awaitSteps(2);
      return lab.published(Asked.of(lab, source)).artifact().path();
    }
  }

  /** The answer to a prefill does not come before the end of the restore. */
  private void hold(String command) throws InterruptedException {
    if (command.equals("prefill")) {
      loading.countDown();
      assertThat(ended.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }
  }

  private void fail(Moment moment, String step) throws StepFailure, InterruptedException {
    if (moment == Moment.BEFORE && step.equals("criu-restore")) {
      assertThat(loading.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
      throw new StepFailure(Reason.INTERNAL, "injected");
    }
  }
}
