package dev.stasis.agent.stream;

import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Feeds an {@link SendQueue} with an artifact, even while it is being written: its files as they
 * become final, then the remaining ones. Not thread-safe.
 */
public final class ArtifactFeed {

  /** Last: the receiving folder contains no manifest before everything else is there. */
  private static final List<String> LAST = List.of(Manifest.DIGEST_FILE_NAME, Manifest.FILE_NAME);

  private final SendQueue outbound;
  private @Nullable Path folder;

  public ArtifactFeed(SendQueue outbound) {
    this.outbound = outbound;
  }

  /** The artifact is being written in this folder, which is renamed at the end. */
  public void begins(Path staging) throws IOException {
    folder = staging;
    outbound.from(staging);
  }

  /** The first bytes of a file are final. */
  public void grew(Path file, long bytes) {
    outbound.grow(name(file), bytes);
  }

  /** Every file in this subfolder is final. */
  public void finished(Path sub) throws IOException {
    addAll(sub, folder == null ? sub : folder);
  }

  /** The artifact is published at this path: all of it is final. */
  public void whole(Path artifact) throws IOException {
    outbound.from(artifact);
    addAll(artifact, artifact);
    for (String name : LAST) {
      outbound.add(name, Files.size(artifact.resolve(name)));
    }
    outbound.complete();
  }

  private void addAll(Path below, Path root) throws IOException {
    try (Stream<Path> files = Files.walk(below)) {
      for (Path file :
          (Iterable<Path>)
              files.filter(one -> Files.isRegularFile(one, LinkOption.NOFOLLOW_LINKS)).sorted()
                  ::iterator) {
        String name = root.relativize(file).toString();
        if (!LAST.contains(name)) {
          outbound.add(name, Files.size(file));
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private String name(Path file) {
    Path root = folder;
    if (root == null || !file.startsWith(root)) {
      throw new IllegalArgumentException(
          "file %s: expected one below %s".formatted(file, String.valueOf(root)));
    }
    return root.relativize(file).toString();
  }
}
