package dev.stasis.artifact;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * Looks for an artifact that another node may have published or deleted a moment ago. NFS clients
 * remember for up to a minute which entries a folder has, and which it does not have; opening the
 * folder makes them ask the server whether it has changed.
 */
public record SharedLookup(Path artifact) {

  /**
   * Returns whether it exists. Follows no link.
   *
   * @throws IOException if the file system does not answer, which says nothing about the artifact
   */
  public boolean exists() throws IOException {
    Path namespace = artifact.toAbsolutePath().getParent();
    try {
      if (namespace != null && namespace.getParent() != null) {
        FileChannel.open(namespace.getParent(), StandardOpenOption.READ).close();
        FileChannel.open(namespace, StandardOpenOption.READ).close();
      }
      Files.readAttributes(artifact, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }
}
