package dev.stasis.agent.engine;

import dev.stasis.artifact.WriteBehind;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Moves the images of a dump from memory of the node into the artifact. It can be repeated after
 * the death of an agent: an image is deleted in memory once its copy is complete.
 *
 * @param from the folder in memory, which has nothing else; it need not exist
 * @param to the artifact's folder for images
 */
record ImageCopy(Path from, Path to) {

  /** Small enough to report progress on a slow disk. */
  private static final long PIECE_BYTES = 8L << 20;

  /** A disk is not faster with more. */
  private static final int MOST_WRITERS = 4;

  /** Receives the progress. */
  interface Progress {

    /**
     * Some bytes were copied, or an image is complete.
     *
     * @throws IOException if the copy must not continue
     */
    void copied() throws IOException;
  }

  /** Returns the size of each image that is still in memory. */
  Map<String, Long> sizes() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    if (Files.exists(from)) {
      try (Stream<Path> images = Files.list(from)) {
        for (Path image : images.toList()) {
          sizes.put(image.getFileName().toString(), Files.size(image));
        }
      }
    }
    return sizes;
  }

  void run(Parallel parallel, Progress progress) throws IOException, InterruptedException {
    try {
      parallel.forEach(shares(), share -> copy(share, progress));
    } catch (StepFailure failure) {
      throw new IOException(failure.getMessage(), failure);
    }
  }

  /**
   * The images of one process are in one large file, and writers of one file wait for each other.
   */
  private List<List<Path>> shares() throws IOException {
    List<List<Path>> shares = new ArrayList<>();
    List<Path> largestFirst =
        sizes().entrySet().stream()
            .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
            .map(image -> from.resolve(image.getKey()))
            .toList();
    for (int at = 0; at < largestFirst.size(); at++) {
      if (at < MOST_WRITERS) {
        shares.add(new ArrayList<>());
      }
      shares.get(at % MOST_WRITERS).add(largestFirst.get(at));
    }
    return shares;
  }

  private void copy(List<Path> images, Progress progress) throws StepFailure {
    try {
      for (Path image : images) {
        copy(image, to.resolve(image.getFileName()), progress);
        // One that was left behind, while it closed the file: by now it is one of a later dump.
        progress.copied();
        Files.delete(image);
      }
    } catch (IOException e) {
      throw new StepFailure(Reason.STORE_FAILED, "criu's images: " + e.getMessage(), e);
    }
  }

  private static void copy(Path image, Path copy, Progress progress) throws IOException {
    // An agent that died has left a part of it.
    Files.deleteIfExists(copy);
    try (FileChannel in = FileChannel.open(image);
        FileChannel out =
            FileChannel.open(
                copy,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(
                    PosixFilePermissions.fromString("rw-------")))) {
      long size = in.size();
      WriteBehind behind = new WriteBehind(out, WriteBehind.USUAL);
      for (long at = 0; at < size; ) {
        long count = in.transferTo(at, PIECE_BYTES, out);
        if (count <= 0) {
          throw new IOException("%s: expected %d bytes, got %d".formatted(image, size, at));
        }
        at += count;
        behind.wrote(count);
        progress.copied();
      }
    }
  }
}
