package dev.stasis.agent.daemon.node;

import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The artifacts below the root of a store: {@code NAMESPACE/NAME-UID}, each with a manifest. */
record StoreFolders(Path root) {

  /** Published ones only: what is still being written has no manifest at its place. */
  List<Path> artifacts() throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path namespace : folders(root)) {
      for (Path artifact : folders(namespace)) {
        if (Files.isRegularFile(artifact.resolve(Manifest.FILE_NAME), LinkOption.NOFOLLOW_LINKS)) {
          found.add(artifact);
        }
      }
    }
    return found;
  }

  private static List<Path> folders(Path parent) throws IOException {
    List<Path> folders = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
      for (Path entry : entries) {
        if (!entry.getFileName().toString().startsWith(".")
            && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
          folders.add(entry);
        }
      }
    }
    return folders;
  }
}
