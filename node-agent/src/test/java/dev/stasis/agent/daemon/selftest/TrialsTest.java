package dev.stasis.agent.daemon.selftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.container.TestPrograms;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrialsTest {

  @Test
  void theMoverTakesMemoryOfAChildOutAndBringsItBack(@TempDir Path folder) throws Exception {
    Path runtime = new TestPrograms().runtime();

    MoverTrial.Speeds speeds =
        new MoverTrial(runtime, new ProcFs(), 2, System::nanoTime).run(folder);

    assertThat(speeds.out()).isPositive();
    assertThat(speeds.in()).isPositive();
    assertThat(folder.resolve("stage")).as("what was taken out").hasSize(64L << 20);
  }

  /** The child checks every byte, so a move that brings nothing back does not pass. */
  @Test
  void aMoverThatBringsNothingBackIsFoundOut(@TempDir Path folder) throws Exception {
    Path runtime = new TestPrograms().runtime();
    Path broken = folder.resolve("broken-runtime");
    Files.writeString(
        broken,
        "#!/bin/sh\ncase \"$*\" in *'move in'*) exit 0 ;; esac\nexec '%s' \"$@\"\n"
            .formatted(runtime));
    Files.setPosixFilePermissions(broken, PosixFilePermissions.fromString("rwx------"));

    assertThatThrownBy(() -> new MoverTrial(broken, new ProcFs(), 2, System::nanoTime).run(folder))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("expected every byte to be restored");
  }

  @Test
  void aProgramThatIsNoMoverIsSaid(@TempDir Path folder) {
    assertThatThrownBy(
            () ->
                new MoverTrial(Path.of("/bin/true"), new ProcFs(), 2, System::nanoTime).run(folder))
        .isInstanceOf(IOException.class)
        .hasMessage("expected a child with memory, got null");
  }

  @Test
  void aStoreIsLeftAsItWas(@TempDir Path folder) throws IOException {
    Trials.DiskTrial.Speeds speeds = new Trials.DiskTrial(System::nanoTime).run(folder);

    assertThat(speeds.write()).isPositive();
    assertThat(speeds.read()).isPositive();
    assertThat(folder).isEmptyDirectory();
  }
}
