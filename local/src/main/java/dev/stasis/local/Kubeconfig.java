package dev.stasis.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Connection data for a client of the single-machine mode.
 *
 * @param url the API server's URL
 * @param credentials the user's entry in the file; empty if none are needed
 */
record Kubeconfig(String url, String credentials) {

  /** Written completely or not at all: its existence shows that the server answers. */
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
