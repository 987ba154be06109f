package dev.stasis.agent.layer;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The files that a workload wrote: an archive of its writable layer and one of each of its volumes.
 */
public record LayerIndex(List<Part> parts) {
  private static final String FILE_NAME = "index.json";

  /** It is kept in memory; its lists are short. */
  private static final long MOST_BYTES = 16 << 20;

  private static final JsonMapper MAPPER = new JsonMapper();

  public LayerIndex {
    parts = List.copyOf(parts);
  }

  /**
   * An archive.
   *
   * @param target its path in the container: {@code /} for the writable layer, else a mount point
   * @param archive the name of the archive file in the same folder
   * @param entries number of files, folders and deletions
   * @param bytes the archive's size
   * @param deleted files of the image that the workload deleted
   * @param leftOut what was not packed, each with the reason
   */
  public record Part(
      String target,
      String archive,
      long entries,
      long bytes,
      List<String> deleted,
      List<String> leftOut) {
    public Part {
      deleted = List.copyOf(deleted);
      leftOut = List.copyOf(leftOut);
      if (!archive.matches("[a-z0-9-]+\\.tar")) {
        throw new IllegalArgumentException(
            "archive: expected a file's name ending in .tar, got \"" + archive + "\"");
      }
    }

    boolean isLayer() {
      return target.equals("/");
    }
  }

  /** Reads the index of a folder that {@link LayerPacker} filled. */
  public static LayerIndex read(Path folder) throws IOException {
    Path file = folder.resolve(FILE_NAME);
    if (Files.size(file) > MOST_BYTES) {
      throw new IOException(
          "layer index: expected at most %d bytes, got %d".formatted(MOST_BYTES, Files.size(file)));
    }
    return parse(Files.readAllBytes(file));
  }

  static LayerIndex parse(byte[] bytes) throws IOException {
    return MAPPER.readValue(bytes, LayerIndex.class);
  }

  void write(Path folder) throws IOException {
    Files.write(
        folder.resolve(FILE_NAME), MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(this));
  }
}
