package dev.stasis.agent.engine;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RecordFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Records the device memory of a process that was checkpointed manually: it cannot be determined
 * afterwards, and its Restore must not be tried without it.
 */
final class ManualCheckpointRecord {

  private final Path folder;
  private final ObjectMapper json = new ObjectMapper();

  ManualCheckpointRecord(Path stateDir) {
    this.folder = stateDir.resolve("by-hand");
  }

  void write(ProcessId process, Map<GpuUuid, Long> deviceBytes) {
    Map<String, Long> named = new TreeMap<>();
    deviceBytes.forEach((gpu, bytes) -> named.put(gpu.text(), bytes));
    try {
      Files.createDirectories(folder);
      new RecordFile(file(process)).write(json.writeValueAsBytes(named));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file(process), e);
    }
  }

  Optional<Map<GpuUuid, Long>> read(ProcessId process) {
    try {
      Map<String, Long> named =
          json.readValue(Files.readAllBytes(file(process)), new TypeReference<>() {});
      Map<GpuUuid, Long> bytes = new TreeMap<>();
      named.forEach((gpu, size) -> bytes.put(GpuUuid.parse(gpu), size));
      return Optional.of(bytes);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file(process), e);
    }
  }

  void remove(ProcessId process) {
    try {
      Files.deleteIfExists(file(process));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove " + file(process), e);
    }
  }

  private Path file(ProcessId process) {
    return folder.resolve(process + ".json");
  }
}
