package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.stream.SendQueue;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class UnfinishedArtifactsTest {

  /** The event reads the store, which may not respond, and the workload is frozen. */
  @Test
  void theUndoDoesNotWaitForAnEventThatIsBeingReported() throws Exception {
    UnfinishedArtifacts.Unfinished making =
        new UnfinishedArtifacts().begin(Path.of("/store/a"), "owner");
    try (SendQueue queue = new SendQueue()) {
      making.follow(queue);
      Thread undo = new Thread(() -> making.abandoned("the freeze is undone"));
      // As a thread that reports an event does.
      synchronized (making) {
        undo.start();
        undo.join(Duration.ofSeconds(30).toMillis());
        assertThat(undo.isAlive()).isFalse();
      }
    }
  }
}
