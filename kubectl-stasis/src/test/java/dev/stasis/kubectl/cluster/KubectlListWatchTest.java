package dev.stasis.kubectl.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.kubectl.Objects;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubectlListWatchTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by JUnit
  private Path folder;

  /** A kubectl that runs this shell command; $n is the number of its start. */
  private Process start(String command) {
    try {
      Path file = folder.resolve("starts");
      int before = Files.exists(file) ? Integer.parseInt(Files.readString(file)) : 0;
      Files.writeString(file, String.valueOf(before + 1));
      return new ProcessBuilder("sh", "-c", "n=" + (before + 1) + "; " + command).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private KubectlListWatch watch(String command, Resource... known) {
    return new KubectlListWatch(
        Map.of("gpucheckpoints.stasis.dev", () -> start(command)),
        new JsonReader(),
        List.of(known));
  }

  private static String event(String type, String uid, int version) {
    return """
    echo '{"type": "%s", "object": {"metadata": {"uid": "%s", "resourceVersion": "%s"}}}';\
    """
        .formatted(type, uid, version);
  }

  private static String next(KubectlListWatch watch) throws InterruptedException {
    Resource seen = watch.next(LONG).orElse(Resource.NONE);
    return seen.uid() + "@" + seen.text("metadata.resourceVersion");
  }

  @Test
  void whatTheUserHasSeenIsNotPrintedAgain() throws Exception {
    Resource known = Objects.of("{metadata: {uid: a, resourceVersion: '1'}}");
    String command =
        event("ADDED", "a", 1) + event("ADDED", "b", 2) + event("MODIFIED", "a", 3) + "sleep 60";
    try (KubectlListWatch watch = watch(command, known)) {
      assertThat(next(watch)).isEqualTo("@");
      assertThat(next(watch)).isEqualTo("b@2");
      assertThat(next(watch)).isEqualTo("a@3");
    }
  }

  @Test
  void aDeletionIsPrintedOnceWithTheLastState() throws Exception {
    String command = event("ADDED", "a", 1) + event("DELETED", "a", 2) + "sleep 60";
    try (KubectlListWatch watch = watch(command)) {
      assertThat(next(watch)).isEqualTo("a@1");
      assertThat(next(watch)).isEqualTo("a@2");
    }
  }

  /** The API server ends each watch after some minutes; the next one begins with all objects. */
  @Test
  void aWatchThatTheServerEndedGoesOnWithWhatIsNew() throws Exception {
    String again = "if [ $n = 2 ]; then " + event("ADDED", "b", 2) + " sleep 60; fi";
    try (KubectlListWatch watch = watch(event("ADDED", "a", 1) + again)) {
      List<String> seen = new ArrayList<>();
      while (seen.size() < 2) {
        Optional<Resource> one = watch.next(LONG);
        one.ifPresent(it -> seen.add(it.uid()));
      }
      assertThat(seen).containsExactly("a", "b");
    }
  }

  @Test
  void aServerThatIsGoneEndsTheWatchWithItsMessage() {
    String command = "echo 'error: You must be logged in to the server' >&2; exit 1";
    try (KubectlListWatch watch = watch(command)) {
      assertThatThrownBy(() -> watch.next(LONG))
          .isInstanceOf(ClusterFailure.class)
          .hasMessageContaining("must be logged in");
    }
  }
}
