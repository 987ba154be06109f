package dev.stasis.store;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The folders and files of an artifact, by their paths relative to it: nothing else is in one, and
 * all of it belongs to root alone, so that no modes are kept.
 *
 * @param folders parents before their children, without the artifact's own folder
 * @param files in the order of their chunks
 */
record FileTree(List<String> folders, List<Entry> files) {

  /** A file. */
  record Entry(String path, long size) {
    int chunks() {
      return Math.toIntExact(
          size / ChunkFormat.CHUNK_BYTES + (size % ChunkFormat.CHUNK_BYTES == 0 ? 0 : 1));
    }

    int chunkLength(int number) {
      return (int)
          Math.min(ChunkFormat.CHUNK_BYTES, size - (long) number * ChunkFormat.CHUNK_BYTES);
    }
  }

  /** Reads the names and sizes below a folder; links and special files are refused. */
  static FileTree of(Path root) throws IOException {
    List<Path> paths;
    try (Stream<Path> walk = Files.walk(root)) {
      paths = walk.sorted().toList();
    }
    List<String> folders = new ArrayList<>();
    List<Entry> files = new ArrayList<>();
    for (Path path : paths) {
      String name = root.relativize(path).toString();
      BasicFileAttributes attributes =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (attributes.isRegularFile()) {
        files.add(new Entry(name, attributes.size()));
      } else if (!attributes.isDirectory()) {
        throw new IOException(
            "%s: expected a file or a folder, got a link or a special file".formatted(name));
      } else if (!name.isEmpty()) {
        folders.add(name);
      }
    }
    FileTree tree = new FileTree(folders, files);
    tree.requireSafe();
    if (tree.chunks() > ChunkFormat.MOST_CHUNKS) {
      throw new StoreException.TooLarge(
          "chunks of an artifact: expected at most %d, got %d"
              .formatted(ChunkFormat.MOST_CHUNKS, tree.chunks()));
    }
    return tree;
  }

  @JsonIgnore
  long chunks() {
    long chunks = 0;
    for (Entry file : files) {
      chunks += file.size / ChunkFormat.CHUNK_BYTES + 1;
      chunks -= file.size % ChunkFormat.CHUNK_BYTES == 0 ? 1 : 0;
    }
    return chunks;
  }

  @JsonIgnore
  long bytes() {
    return files.stream().mapToLong(Entry::size).sum();
  }

  /** Refuses names that leave the folder, sizes below zero, and entries that collide. */
  void requireSafe() throws StoreException.Damaged {
    // JSON can have null in a list.
    require(
        folders.stream().allMatch(Objects::nonNull) && files.stream().allMatch(Objects::nonNull),
        "null");
    Set<String> known = new HashSet<>();
    known.add("");
    for (String folder : folders) {
      require(safe(folder) && known.contains(parent(folder)) && known.add(folder), folder);
    }
    Set<String> folderNames = Set.copyOf(known);
    for (Entry file : files) {
      require(
          safe(file.path) && folderNames.contains(parent(file.path)) && known.add(file.path),
          file.path);
      require(
          file.size >= 0 && file.size <= (long) ChunkFormat.MOST_CHUNKS * ChunkFormat.CHUNK_BYTES,
          file.path);
    }
  }

  private static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }

  private static boolean safe(String path) {
    for (String segment : path.split("/", -1)) {
      if (segment.isEmpty()
          || segment.equals(".")
          || segment.equals("..")
          || segment.indexOf('\0') >= 0) {
        return false;
      }
    }
    return true;
  }

  private static void require(boolean valid, String path) throws StoreException.Damaged {
    if (!valid) {
      throw new StoreException.Damaged(
          "file in the manifest: expected a new path in a folder of the artifact, got \"%s\""
              .formatted(path));
    }
  }
}
