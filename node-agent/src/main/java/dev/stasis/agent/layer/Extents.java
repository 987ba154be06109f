package dev.stasis.agent.layer;

import java.io.IOException;

/**
 * The parts of a file that are no hole. They are asked of the kernel each time and never kept: a
 * file may have more of them than there is memory.
 */
interface Extents {

  /** Takes one part. */
  @FunctionalInterface
  interface Sink {
    void take(long offset, long length) throws IOException;
  }

  /** Passes each part on; returns a sum of all, which is another one when the file has changed. */
  long forEach(Sink sink) throws IOException;

  /** Those of an open file. */
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
