package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers with eight GPUs have 200 and more hardware threads; the agent's heap is the same. */
class ManyCoresTest {

  private static final int CORES = 224;

  /** As much as a reader took at once, so that each thread has one. */
  private static final int FILE_BYTES = 1 << 20;

  /** What an agent holds besides: its classes, Kubernetes' objects. */
  private static final int LIVE_BYTES = 40 << 20;

  @TempDir Path temp = Path.of("/");

  @Test
  void anArtifactIsSealedAndReadWithTheImagesHeapOnAMachineWithManyCores() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The image's JVM is newer.
    command.add("-XX:+IgnoreUnrecognizedVMOptions");
    command.addAll(flagsOfTheImage());
    command.add("-XX:ActiveProcessorCount=" + CORES);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(ManyCoresTest.class.getName(), temp.toString()));
    Path log = temp.resolve("log");

    Process child =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      assertThat(child.waitFor(3, TimeUnit.MINUTES)).isTrue();
    } finally {
      child.destroyForcibly();
    }

    assertThat(Files.readString(log)).isEqualTo("sealed and read\n");
    assertThat(child.exitValue()).isZero();
  }

  /** Those that hold for any JVM: the cache of classes is the image's own. */
  private static List<String> flagsOfTheImage() throws IOException {
    Path config = Path.of("..", "images", "agent", "config.json");
    List<String> flags = new ArrayList<>();
    for (JsonNode word : new ObjectMapper().readTree(config.toFile()).get("Entrypoint")) {
      if (word.asText().startsWith("-X")
          && !word.asText().startsWith("-XX:AOTCache")
          // Java 17 prints an error for this one.
          && !word.asText().contains("MemLimit")) {
        flags.add(word.asText());
      }
    }
    assertThat(flags).anyMatch(flag -> flag.startsWith("-Xmx"));
    return flags;
  }

  /** In a JVM of its own. */
  public static void main(String[] args) throws Exception {
    int threads = Runtime.getRuntime().availableProcessors();
    byte[] live = new byte[LIVE_BYTES];
    Path folder = Files.createDirectory(Path.of(args[0], "store"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    Samples samples = new Samples();
    try (ArtifactStage stage = store.stage("a")) {
      Path staged = Path.of(args[0], "staged");
      int chunks = threads * 3 / 2; // Every third is zeros, and not read.
      stage.addRegions(
          1, staged, samples.stage(staged, chunks, FILE_BYTES), List.of(), threads, (d, t) -> {});
      for (int i = 0; i < threads; i++) {
        Files.write(stage.criu().resolve("pages-" + i + ".img"), new byte[FILE_BYTES]);
      }
      stage.seal(samples.draft(), threads, Progress.NONE);
    }
    Opened opened = new ArtifactReader(threads, Progress.NONE).open(store.path("a"), null);
    boolean read = opened instanceof Opened.Verified && live.length == LIVE_BYTES;
    System.out.println(read ? "sealed and read" : opened.toString());
  }
}
