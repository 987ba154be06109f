package dev.stasis.agent.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Shell scripts that stand for criu or stasis-runtime and do something to the real one. */
final class WrappedProgram {

  private final Path folder;

  WrappedProgram(Path folder) {
    this.folder = folder;
  }

  /** Fails at once. */
  Path failing(String name) {
    return script(name, "echo \"this $0 fails\" >&2; exit 1");
  }

  /** Never ends by itself; TERM ends it. */
  Path hanging(String name) {
    return script(name, "exec sleep 1000");
  }

  /** The real one, killed after so many milliseconds unless it is done by then. */
  Path killedAfter(String name, Path real, int millis) {
    return script(
        name,
        "%s \"$@\" & child=$!; (sleep %d.%03d; kill -KILL $child) >/dev/null 2>&1 & wait $child"
            .formatted(real, millis / 1000, millis % 1000));
  }

  /** stasis-runtime, of which {@code move out} or {@code move in} is killed after so long. */
  Path killedInMove(String name, Path real, String way, int millis) {
    return script(
        name,
        """
        case "$*" in
          enter*) while [ "$1" != -- ]; do enter="$enter $1"; shift; done; shift 2
                  exec %1$s $enter -- "$0" "$@" ;;
          "move %2$s "*) %1$s "$@" & child=$!
                  (sleep %3$d.%4$03d; kill -KILL $child) >/dev/null 2>&1 & wait $child ;;
          *) exec %1$s "$@" ;;
        esac"""
            .formatted(real, way, millis / 1000, millis % 1000));
  }

  private Path script(String name, String body) {
    try {
      Files.createDirectories(folder);
      Path fresh = Files.createTempFile(folder, name, ".new");
      Files.writeString(fresh, "#!/bin/sh\n" + body + "\n");
      Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rwx------"));
      return fresh;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
