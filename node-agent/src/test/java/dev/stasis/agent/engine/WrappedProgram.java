package dev.stasis.agent.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;

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

  /** The real one, but for one of its commands, which fails. */
  Path failingAt(String name, Path real, String command) {
    return script(
        name,
        "case \" $*\" in *\" %s \"*) echo 'this command fails' >&2; exit 7 ;; esac; exec '%s' \"$@\""
            .formatted(command, real));
  }

  /** The real one, and a script after one of its commands has succeeded. */
  Path followedBy(String name, Path real, String command, String after) {
    return script(
        name,
        "'%s' \"$@\" || exit $?; case \" $*\" in *\" %s \"*) %s ;; esac"
            .formatted(real, command, after));
  }

  /** Never ends by itself; TERM ends it. */
  Path hanging(String name) {
    return script(name, "exec sleep 1000");
  }

  /**
   * A program that is killed at some moment, unless it is done by then.
   *
   * @param note a file that is there once it was killed
   */
  record Killed(Path program, Path note) {
    boolean wasHit() {
      return Files.exists(note);
    }
  }

  /** The real one, killed after so many milliseconds unless it is done by then. */
  Killed killedAfter(String name, Path real, int millis) {
    Path note = folder.resolve(name + "." + UUID.randomUUID() + ".killed");
    return new Killed(script(name, "'%s' \"$@\" & ".formatted(real) + killing(millis, note)), note);
  }

  /** Kills the last child after so long, and notes whether that is what ended it. */
  private static String killing(int millis, Path note) {
    return "child=$!; (sleep %d.%03d; kill -KILL $child) >/dev/null 2>&1 & wait $child; code=$?; "
            .formatted(millis / 1000, millis % 1000)
        + "[ $code -ne 137 ] || : >'%s'; exit $code".formatted(note);
  }

  /** stasis-runtime, of which {@code move out} or {@code move in} is killed after so long. */
  Killed killedInMove(String name, Path real, String way, int millis) {
    Path note = folder.resolve(name + "." + UUID.randomUUID() + ".killed");
    String body =
        """
        case "$*" in
          enter*) while [ "$1" != -- ]; do enter="$enter $1"; shift; done; shift 2
                  exec '%1$s' $enter -- "$0" "$@" ;;
          "move %2$s "*) '%1$s' "$@" &
                  %3$s ;;
          *) exec '%1$s' "$@" ;;
        esac\
        """
            .formatted(real, way, killing(millis, note));
    return new Killed(script(name, body), note);
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
