package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.stasis.agent.process.RecordFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The recorded operations of this node, one folder per container below the state folder. Each
 * record is written before the corresponding step. The folder is on a tmpfs: it must outlive the
 * agent, but not the boot.
 */
public final class WorkJournal {

  private static final System.Logger LOG = System.getLogger(WorkJournal.class.getName());

  private static final String FILE = "work.json";

  private final Path folder;
  private final Set<Path> reported = ConcurrentHashMap.newKeySet();
  private final ObjectMapper json =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          // A newer agent may have added fields; the known ones keep their meaning.
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /**
   * The journal of a node.
   *
   * @param stateDir the node's state folder
   */
  public WorkJournal(Path stateDir) {
    this.folder = stateDir.resolve("work");
  }

  /** Returns the folder of a container's operation; created if missing. */
  public Path folderOf(String containerId) {
    Path path = folder.resolve(containerId);
    try {
      Files.createDirectories(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create the work folder " + path, e);
    }
    return path;
  }

  public void write(Work work) {
    Path path = folderOf(work.containerId());
    try {
      new RecordFile(path.resolve(FILE))
          .writeSynced(json.writerWithDefaultPrettyPrinter().writeValueAsBytes(work));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the work journal " + path, e);
    }
  }

  /** Returns the operation of a container; with phase UNKNOWN if its journal is unreadable. */
  public Optional<Work> read(String containerId) {
    return readFile(folder.resolve(containerId).resolve(FILE));
  }

  /** Returns all operations, oldest first. An unreadable journal affects only itself. */
  public List<Work> all() {
    List<Work> found = new ArrayList<>();
    if (!Files.isDirectory(folder)) {
      return found;
    }
    try (Stream<Path> entries = Files.list(folder)) {
      entries.forEach(entry -> readFile(entry.resolve(FILE)).ifPresent(found::add));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the work folder " + folder, e);
    }
    found.sort(Comparator.comparing(Work::since));
    return found;
  }

  /** Returns the containers whose folder has no record: an agent was killed while it removed it. */
  List<String> withoutRecord() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .filter(entry -> Files.notExists(entry.resolve(FILE)))
          .map(entry -> String.valueOf(entry.getFileName()))
          .toList();
    }
  }

  /**
   * Removes the journal of a finished operation, the journal file first: without it the rest has no
   * meaning, and what cannot be removed of it is left to {@link Thaw#removeRemains}.
   *
   * @throws UncheckedIOException if the journal file is still there
   */
  public void remove(String containerId) {
    Path path = folder.resolve(containerId);
    try {
      Files.deleteIfExists(path.resolve(FILE));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove the journal in " + path, e);
    }
    if (!Files.exists(path)) {
      return;
    }
    try (Stream<Path> entries = Files.walk(path)) {
      for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(entry);
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.log(System.Logger.Level.WARNING, "cannot remove the work folder " + path, e);
    }
  }

  private Optional<Work> readFile(Path file) {
    String container = String.valueOf(file.getName(file.getNameCount() - 2));
    try {
      Work work = json.readValue(Files.readAllBytes(file), Work.class);
      if (work == null
          || work.format() > Work.WITH_OFFLOADED_MEMORY
          || !work.containerId().equals(container)) {
        return Optional.of(
            unknown(
                file,
                "expected format %d of container %s, got %s"
                    .formatted(
                        Work.WITH_OFFLOADED_MEMORY,
                        container,
                        work == null ? null : work.format() + " of " + work.containerId())));
      }
      return Optional.of(work);
    } catch (NoSuchFileException | NotDirectoryException e) {
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(unknown(file, firstLine(e)));
    }
  }

  private Work unknown(Path file, String why) {
    if (reported.add(file)) {
      LOG.log(
          System.Logger.Level.ERROR,
          "Cannot read work journal {0}, so its workload is not changed: {1}",
          file,
          why);
    }
    Instant since;
    try {
      since = Files.getLastModifiedTime(file).toInstant();
    } catch (IOException e) {
      since = Instant.EPOCH;
    }
    String container = String.valueOf(file.getName(file.getNameCount() - 2));
    return Work.unknown(container, "unreadable journal " + file, since);
  }

  private static String firstLine(IOException e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("no message");
  }
}
