package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CriuCheckTest {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "stasis-6, true",
    "stasis-12, true",
    "stasis-6-plain, false",
    "v4.2.1, false",
    "'', false"
  })
  void whetherItIsMendedIsSeenByItsBuild(String build, boolean mended) throws Exception {
    Path criu = program("echo Version: 4.2.1" + (build.isEmpty() ? "" : "; echo GitID: " + build));

    assertThat(new CriuCheck().check(criu))
        .isEqualTo(new CriuCheck.Result.Good(new CriuCheck.Version(4, 2, 1), mended));
  }

  @Test
  void anOutdatedCriuIsUnusable() throws Exception {
    assertThat(new CriuCheck().check(program("echo Version: 3.17.1")))
        .isEqualTo(
            new CriuCheck.Result.Unusable("criu version: expected 4.1.1 or newer, got 3.17.1"));
  }

  @Test
  void aCriuThatFailsItsOwnCheckIsReportedWithItsLastLine() throws Exception {
    Path criu = program("[ $1 = check ] && echo no mounts && exit 1; echo Version: 4.2.1");

    assertThat(new CriuCheck().check(criu))
        .isEqualTo(
            new CriuCheck.Result.Unusable("criu check: expected \"Looks good\", got no mounts"));
  }

  private Path program(String line) throws IOException {
    Path program = folder.resolve("criu");
    Files.writeString(program, "#!/bin/sh\n" + line + "\nexit 0\n");
    return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }
}
