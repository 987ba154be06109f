package dev.stasis.agent.mover;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Follows a region journal while the mover writes it. The chunks that the journal names are final
 * in the stage. Not thread-safe.
 */
public final class JournalTailer {

  /** The records of one piece: 64 MiB in chunks of 8 MiB are about a kilobyte. */
  private static final int BUFFER = 1 << 16;

  private final Path journal;
  private final JournalParser parser = new JournalParser();
  private long read;

  public JournalTailer(Path journal) {
    this.journal = journal;
  }

  /**
   * Returns the bytes from the beginning of the stage that are final by now; never fewer than
   * before.
   *
   * @throws IOException if the journal cannot be read or parsed
   */
  public synchronized long finalBytes() throws IOException {
    try (FileChannel file = FileChannel.open(journal)) {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
      while (file.read(buffer.clear(), read) > 0) {
        int whole = buffer.position();
        while (whole > 0 && buffer.get(whole - 1) != '\n') {
          whole--;
        }
        if (whole == 0) {
          break; // The line being written.
        }
        parser.take(new ByteArrayInputStream(buffer.array(), 0, whole));
        read += whole;
      }
    } catch (NoSuchFileException e) {
      return parser.finalBytes();
    } catch (JournalParser.Damaged e) {
      throw new IOException("journal " + journal + ": " + e.sentence(), e);
    }
    return parser.finalBytes();
  }
}
