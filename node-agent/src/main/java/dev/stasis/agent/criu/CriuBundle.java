package dev.stasis.agent.criu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A host folder with criu (a static program, because it also runs inside images without libraries)
 * and an empty folder for plugins. criu must not find a plugin, because its own CUDA plugin hides
 * failures of the GPU restore.
 */
public record CriuBundle(Path folder) {

  public Path program() {
    return folder.resolve("criu");
  }

  public Path plugins() {
    return folder.resolve("plugins");
  }

  /** Creates or updates the bundle from a criu program. */
  public void install(Path criu) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createDirectories(plugins());
    try (Stream<Path> found = Files.list(plugins())) {
      if (found.findAny().isPresent()) {
        throw new IOException("criu plugins: expected an empty folder, got files in " + plugins());
      }
    }
    if (Files.exists(program()) && Files.mismatch(program(), criu) == -1) {
      return;
    }
    // By rename: a running criu keeps its file.
    Path copy = folder.resolve("criu." + UUID.randomUUID());
    Files.copy(criu, copy);
    Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwx------"));
    Files.move(copy, program(), StandardCopyOption.ATOMIC_MOVE);
  }
}
