package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is called final while the rest is written is what the artifact has in the end. */
class StageListenerTest {

  private static final int MIB = 150;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  /** Keeps what it is told, byte for byte, at the time at which it is told. */
  private static final class Copy implements StageListener {
    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final List<String> words = new ArrayList<>();
    private Path folder = Path.of("/");

    @Override
    public synchronized void begins(Path begun) {
      folder = begun;
      words.add("begins");
    }

    @Override
    public synchronized void grew(Path file, long bytes) {
      if (bytes > files.getOrDefault(name(file), new byte[0]).length) {
        keep(file, bytes);
        words.add("grew");
      }
    }

    @Override
    public synchronized void finished(Path sub) {
      try (Stream<Path> all = Files.list(sub)) {
        for (Path file : all.toList()) {
          keep(file, Files.size(file));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      words.add("finished " + sub.getFileName());
    }

    private void keep(Path file, long bytes) {
      try (FileChannel channel = FileChannel.open(file)) {
        ByteBuffer buffer = ByteBuffer.allocate((int) bytes);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
          // Until it is read.
        }
        assertThat(buffer.hasRemaining()).isFalse();
        files.put(name(file), buffer.array());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private String name(Path file) {
      return folder.relativize(file).toString();
    }
  }

  @BeforeEach
  void begin() throws InterruptedException {
    lab = new EngineLab(1, 256);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(2);
  }

  @AfterEach
  void stop() {
    source.close();
    lab.close();
  }

  @Test
  void finalPartsAreAnnouncedBeforeTheArtifactIsCompleteAndDoNotChange() throws Exception {
    Copy copy = new Copy();

    CheckpointOutcome outcome = checkpoint(Asked.of(lab, source).after(After.EVICT), copy);

    assertThat(outcome).isInstanceOf(CheckpointOutcome.Held.class);
    Path artifact = ((CheckpointOutcome.Held) outcome).artifact().path();
    assertThat(copy.folder).isNotEqualTo(artifact).doesNotExist();
    // Of the regions every byte, in more than one go; of criu and the layer every file.
    assertThat(copy.words)
        .startsWith("begins")
        .contains("grew")
        .contains("finished criu", "finished layer");
    Map<String, byte[]> made = new TreeMap<>();
    for (String sub : List.of("criu", "layer", "regions")) {
      try (Stream<Path> files = Files.list(artifact.resolve(sub))) {
        for (Path file : files.filter(it -> !it.toString().endsWith(".chunks")).toList()) {
          made.put(artifact.relativize(file).toString(), Files.readAllBytes(file));
        }
      }
    }
    assertThat(copy.files).hasSize(made.size());
    assertThat(made).hasSizeGreaterThan(10);
    made.forEach((name, bytes) -> assertThat(copy.files.get(name)).as(name).isEqualTo(bytes));
    lab.thaw(source);
    source.awaitSteps(2);
    source.verify(MIB);
  }

  @Test
  void aStageThatIsNotTheArtifactsOwnIsNotToldOf() throws Exception {
    Copy copy = new Copy();

    CheckpointOutcome outcome =
        checkpoint(Asked.of(lab, source).staged(CheckpointRequest.StagePlace.MEMORY), copy);

    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    // The images of a workload that resumes are copied after its thaw, when nothing listens.
    assertThat(copy.words).containsExactly("begins", "finished layer");
    source.awaitSteps(2);
    source.verify(MIB);
  }

  private CheckpointOutcome checkpoint(Asked asked, StageListener stages)
      throws InterruptedException {
    return lab.engine()
        .checkpoint()
        .run(asked.request(), EngineLab.control(), StepListener.NONE, stages);
  }
}
