package dev.stasis.artifact;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Copies a stage's chunks into an artifact, or only reads them if they are there already. */
record RegionCopy(Path from, Path to, ChunkTable table) {

  /** The table with both digests of every chunk. */
  ChunkTable run(Workers workers, Progress progress) throws IOException {
    boolean inPlace = Files.exists(to) && Files.isSameFile(from, to);
    Hasher hasher = new Hasher(progress, table.storedBytes());
    try (FileChannel source = Hasher.openForReading(from)) {
      if (source.size() < table.dataSize()) {
        throw new IOException(
            "stage %s: expected at least %d bytes, got %d"
                .formatted(from, table.dataSize(), source.size()));
      }
      if (inPlace) {
        return hashed(workers, hasher, source, null);
      }
      try (FileChannel copy =
          FileChannel.open(to, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
        // The full length is set first, so that zeros at the end stay a hole.
        try (RandomAccessFile file = new RandomAccessFile(to.toFile(), "rw")) {
          file.setLength(table.dataSize());
        }
        return hashed(workers, hasher, source, new WriteBehind(copy, WriteBehind.USUAL));
      }
    }
  }

  private ChunkTable hashed(
      Workers workers, Hasher hasher, FileChannel source, @Nullable WriteBehind copy)
      throws IOException {
    List<Callable<Chunk>> work = new ArrayList<>();
    for (Chunk chunk : table.chunks()) {
      // A chunk that is in place, with its digest computed during the copy, is not read again.
      boolean known = copy == null && chunk.sha256() != null;
      if (!chunk.zero() && !known) {
        work.add(() -> hashed(chunk, hasher, source, copy));
      }
    }
    List<Chunk> chunks = new ArrayList<>(table.chunks());
    workers.all(work).forEach(chunk -> chunks.set(chunk.number(), chunk));
    return new ChunkTable(table.regions(), chunks);
  }

  private Chunk hashed(Chunk chunk, Hasher hasher, FileChannel source, @Nullable WriteBehind copy)
      throws IOException {
    Hasher.Digests digests = hasher.chunk(chunk, source, copy);
    check(chunk, digests);
    return chunk.with(digests.sha256());
  }

  /** Compares a chunk's bytes with the table. */
  static void check(Chunk chunk, Hasher.Digests found) throws IOException {
    Integer crc = chunk.crc32c();
    if (crc != null && crc != found.crc32c()) {
      throw new IOException(
          "chunk %d: expected crc32c %08x, got %08x"
              .formatted(chunk.number(), crc, found.crc32c()));
    }
    if (chunk.sha256() != null && !chunk.sha256().equals(found.sha256())) {
      throw new IOException(
          "chunk %d: expected sha256 %s, got %s"
              .formatted(chunk.number(), chunk.sha256(), found.sha256()));
    }
  }
}
