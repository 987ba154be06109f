package dev.stasis.agent.daemon.operation;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files below a folder of a store, and what a disk does to them.
 *
 * @param folder of a store, or of an artifact
 */
record StoredFiles(Path folder) {

  List<Path> all() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return new ArrayList<>(files.filter(Files::isRegularFile).toList());
    }
  }

  Path largest() throws IOException {
    return largestExcept(List.of());
  }

  /** The largest of those that were not there before. */
  Path largestExcept(List<Path> before) throws IOException {
    List<Path> added = all();
    added.removeAll(before);
    return added.stream()
        .max(Comparator.comparingLong(file -> file.toFile().length()))
        .orElseThrow();
  }

  long bytes() throws IOException {
    return all().stream().mapToLong(file -> file.toFile().length()).sum();
  }

  void delete() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Flips one bit in the middle of a file. */
  static void flip(Path file) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      long middle = bytes.length() / 2;
      bytes.seek(middle);
      int value = bytes.read();
      bytes.seek(middle);
      bytes.write(value ^ 1);
    }
  }
}
