package dev.stasis.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * What a client of the single-machine mode has to know.
 *
 * @param url where it is answered
 * @param credentials as they stand in the file; empty where none are wanted
 */
record Kubeconfig(String url, String credentials) {

  /** Whole or not at all: its being there says that somebody answers. */
  Path write(Path file) throws IOException {
    String text =
        """
        apiVersion: v1
        kind: Config
        current-context: single-machine
        clusters:
        - {name: single-machine, cluster: {server: "%s"}}
        contexts:
        - {name: single-machine, context: {cluster: single-machine, namespace: default, user: me}}
        users:
        - {name: me, user: {%s}}
        """
            .formatted(url, credentials);
    Path half = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(half);
    Files.createFile(
        half, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(half, text);
    return Files.move(half, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
