package dev.stasis.agent.mover;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads region journals. A journal may be written while it is read; its last line counts only if it
 * ends in a newline.
 */
public final class JournalReader {

  private final String bootNow;

  public JournalReader(ProcFs proc) {
    this(proc.bootId());
  }

  /**
   * @param bootNow the current boot id of this machine
   */
  public JournalReader(String bootNow) {
    this.bootNow = bootNow;
  }

  public JournalReading read(Path file) {
    JournalParser parser = new JournalParser();
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      parser.take(in);
    } catch (NoSuchFileException e) {
      return new JournalReading.Removed(file);
    } catch (JournalParser.Damaged e) {
      return new JournalReading.Unreadable(file, e.sentence());
    } catch (IOException e) {
      return new JournalReading.Unreadable(file, e.toString());
    }
    Optional<RegionJournal> journal = parser.journal();
    if (journal.isEmpty()) {
      return new JournalReading.Begun(file);
    }
    if (!journal.get().bootId().equals(bootNow)) {
      return new JournalReading.Lost(file, journal.get().bootId(), bootNow);
    }
    return new JournalReading.Read(file, journal.get());
  }

  /**
   * Returns every journal of this process in the work folders below {@code stateFolder}; empty if
   * no memory of it was ever moved.
   *
   * @throws IOException if an existing folder cannot be read
   */
  public List<JournalReading> of(ProcessId process, Path stateFolder) throws IOException {
    List<JournalReading> readings = new ArrayList<>();
    try (DirectoryStream<Path> works = Files.newDirectoryStream(stateFolder.resolve("work"))) {
      for (Path work : works) {
        Path file = work.resolve(RegionJournal.fileName(process));
        if (Files.exists(file)) {
          readings.add(about(process, read(file)));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    }
    return readings;
  }

  private static JournalReading about(ProcessId process, JournalReading reading) {
    if (reading instanceof JournalReading.Read read && !read.journal().process().equals(process)) {
      return new JournalReading.Unreadable(
          read.file(), "expected process " + process + ", got " + read.journal().process());
    }
    return reading;
  }
}
