package dev.stasis.store;

import java.util.Arrays;

/** The chunks of all files of an artifact, numbered in the files' order. */
final class TreeChunks {
  /** Holds {@link ChunkFormat#MOST_CHUNKS}. */
  private static final int NUMBER_BITS = 20;

  private final FileTree tree;
  private final int[] first;
  private final int count;
  private final long bytes;

  TreeChunks(FileTree tree) {
    this.tree = tree;
    this.first = new int[tree.files().size()];
    int next = 0;
    for (int i = 0; i < first.length; i++) {
      first[i] = next;
      next += tree.files().get(i).chunks();
    }
    this.count = next;
    this.bytes = tree.bytes();
  }

  FileTree tree() {
    return tree;
  }

  int count() {
    return count;
  }

  long bytes() {
    return bytes;
  }

  /**
   * Returns all chunks in an order in which threads write different files at a time: a file takes
   * one write at a time. The chunks of each file are in their order, spread over the whole.
   */
  int[] spreadOverFiles() {
    long[] keys = new long[count];
    int chunk = 0;
    for (FileTree.Entry file : tree.files()) {
      long chunks = file.chunks();
      for (long i = 0; i < chunks; i++) {
        // The place within the file as a fraction of 42 bits, and the chunk's own number below it.
        keys[chunk] = ((2 * i + 1) << 42) / (2 * chunks) << NUMBER_BITS | chunk;
        chunk++;
      }
    }
    Arrays.sort(keys);
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      order[i] = (int) (keys[i] & (1 << NUMBER_BITS) - 1);
    }
    return order;
  }

  /** Returns the number of the file; empty files have no chunk. */
  int file(int chunk) {
    int low = 0;
    int high = first.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (first[middle] <= chunk) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  String path(int chunk) {
    return tree.files().get(file(chunk)).path();
  }

  /** Returns the number of the chunk within its file. */
  int numberInFile(int chunk) {
    return chunk - first[file(chunk)];
  }

  long offset(int chunk) {
    return (long) numberInFile(chunk) * ChunkFormat.CHUNK_BYTES;
  }

  int length(int chunk) {
    return tree.files().get(file(chunk)).chunkLength(numberInFile(chunk));
  }
}
