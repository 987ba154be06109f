package dev.stasis.agent.criu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A folder of the host with criu (a static program, since it also runs inside images without any
 * library) and an empty folder for its plugins: criu's own CUDA plugin hides failures of the GPU's
 * restore, so no plugin may ever be found.
 */
public record CriuBundle(Path folder) {

  public Path program() {
    return folder.resolve("criu");
  }

  public Path plugins() {
    return folder.resolve("plugins");
  }

  /** Makes the bundle, or brings it up to date, from a criu program. */
  public void install(Path criu) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createDirectories(plugins());
    try (Stream<Path> found = Files.list(plugins())) {
      if (found.findAny().isPresent()) {
        throw new IOException("criu plugins: wanted an empty folder, found files in " + plugins());
      }
    }
    if (Files.exists(program()) && Files.mismatch(program(), criu) == -1) {
      return;
    }
    // By rename: a criu that runs from here keeps its file.
    Path copy = folder.resolve("criu." + UUID.randomUUID());
    Files.copy(criu, copy);
    Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwx------"));
    Files.move(copy, program(), StandardCopyOption.ATOMIC_MOVE);
  }
}
