package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Operations as they were read from files that are replaced and never changed: a file is read again
 * only when it is another one. Used by one thread.
 */
final class FileReadings {

  private final ObjectMapper json;
  private final Map<Path, Reading> last = new HashMap<>();

  FileReadings(ObjectMapper json) {
    this.json = json;
  }

  /** The content of a file; the reader of the operation may change it. */
  record Reading(
      @Nullable Object inode,
      FileTime written,
      long size,
      String uid,
      String name,
      GpuNodeOperation operation) {}

  /** Returns the status in a file, an empty one if there is none. */
  GpuNodeOperationStatus status(Path file) {
    return read(file)
        .map(reading -> reading.operation().getStatus())
        .orElseGet(GpuNodeOperationStatus::new);
  }

  /** Returns the same object until the file is replaced, and nothing if there is no file. */
  Optional<Reading> read(Path file) {
    try {
      BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
      Reading before = last.get(file);
      if (before != null
          && Objects.equals(before.inode(), found.fileKey())
          && before.written().equals(found.lastModifiedTime())
          && before.size() == found.size()) {
        return Optional.of(before);
      }
      // One that has replaced it in the meantime is read twice.
      GpuNodeOperation operation = json.readValue(Files.readAllBytes(file), GpuNodeOperation.class);
      Reading now =
          new Reading(
              found.fileKey(),
              found.lastModifiedTime(),
              found.size(),
              operation.getMetadata().getUid(),
              operation.getMetadata().getName(),
              operation);
      last.put(file, now);
      return Optional.of(now);
    } catch (NoSuchFileException e) {
      last.remove(file);
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
