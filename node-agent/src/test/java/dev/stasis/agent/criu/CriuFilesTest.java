package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CriuFilesTest {

  @TempDir Path folder;

  @Test
  void theNamedCriuCountsAloneThenOursThenTheOneInPath() throws IOException {
    Path own = program("own/criu");
    Path inPath = program("path/criu");
    Map<String, String> environment = Map.of("PATH", "/nothing:" + inPath.getParent());
    Path missing = folder.resolve("none");

    assertThat(new CriuLocator(Optional.of(missing), own, environment).find()).isEmpty();
    assertThat(new CriuLocator(Optional.empty(), own, environment).find()).contains(own);
    assertThat(new CriuLocator(Optional.empty(), missing, environment).find()).contains(inPath);
  }

  @Test
  void anOldCriuIsRefusedWithBothVersions() throws Exception {
    Path old = program("criu");
    Files.writeString(old, "#!/bin/sh\necho 'Version: 3.17.1'\n");

    assertThat(new CriuCheck().check(old))
        .isEqualTo(
            new CriuCheck.Result.Unusable("criu version: expected 4.1.1 or newer, got 3.17.1"));
    assertThat(new CriuCheck().check(folder.resolve("none")))
        .isEqualTo(
            new CriuCheck.Result.Unusable(
                "criu: expected a program, got none at " + folder.resolve("none")));
  }

  @Test
  void theInstalledCriuPassesItsOwnCheck() throws Exception {
    Path criu = CriuLocator.usual().find().orElseThrow();

    assertThat(new CriuCheck().check(criu)).isInstanceOf(CriuCheck.Result.Good.class);
  }

  @Test
  void versionsAreComparedAsNumbers() {
    assertThat(CriuCheck.Version.in(List.of("Version: 4.10")).orElseThrow())
        .isGreaterThan(new CriuCheck.Version(4, 2, 1));
  }

  @Test
  void aBundleWithAPluginInItIsRefused() throws IOException {
    CriuBundle bundle = new CriuBundle(folder.resolve("bundle"));
    Path criu = program("criu");
    bundle.install(criu);
    bundle.install(criu);
    assertThat(bundle.program()).hasSameBinaryContentAs(criu);

    Files.createFile(bundle.plugins().resolve("cuda_plugin.so"));

    assertThatThrownBy(() -> bundle.install(criu))
        .hasMessage("criu plugins: expected an empty folder, got files in " + bundle.plugins());
  }

  private Path program(String name) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "x");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return file;
  }
}
