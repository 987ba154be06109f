package dev.stasis.agent.layer;

import java.io.IOException;

/**
 * The parts of a file that are not holes. They are queried from the kernel each time and never
 * stored: a file may have more of them than fit into memory.
 */
interface Extents {

  /** Receives one part. */
  @FunctionalInterface
  interface Sink {
    void take(long offset, long length) throws IOException;
  }

  /**
   * Passes each part to the consumer; returns a checksum of all, which differs if the file has
   * changed.
   */
  long forEach(Sink sink) throws IOException;

  /** For an open file. */
  static Extents of(Handle file, long size) {
    return sink -> {
      long sum = 1;
      for (long at = file.seek(0, true, size); at < size; ) {
        long end = file.seek(at, false, size);
        sink.take(at, end - at);
        sum = 31 * (31 * sum + at) + end;
        at = end < size ? file.seek(end, true, size) : size;
      }
      return sum;
    };
  }
}
