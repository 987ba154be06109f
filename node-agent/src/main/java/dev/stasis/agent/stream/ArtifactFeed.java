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
 * Feeds an {@link Outbound} with an artifact, also with one that is still being made: its files as
 * they become final, then whatever is missing. Not for several threads at once.
 */
public final class ArtifactFeed {

  /** Last: whoever looks into the other folder sees no manifest before all else. */
  private static final List<String> LAST = List.of(Manifest.DIGEST_FILE_NAME, Manifest.FILE_NAME);

  private final Outbound outbound;
  private @Nullable Path folder;

  public ArtifactFeed(Outbound outbound) {
    this.outbound = outbound;
  }

  /** It is being made in this folder, which is renamed in the end. */
  public void begins(Path staging) throws IOException {
    folder = staging;
    outbound.from(staging);
  }

  /** The first bytes of one of its files are final. */
  public void grew(Path file, long bytes) {
    outbound.grow(name(file), bytes);
  }

  /** Every file in this folder of it is final. */
  public void finished(Path sub) throws IOException {
    addAll(sub, folder == null ? sub : folder);
  }

  /** It is published there: all of it is final. */
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
          "file %s: wanted one below %s".formatted(file, String.valueOf(root)));
    }
    return root.relativize(file).toString();
  }
}
