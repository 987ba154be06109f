package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RecordFile;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.Durability;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A complete capture whose artifact is not published yet. It is stored beside the journal of its
 * container, because a workload that runs again cannot be captured a second time: a successor of
 * the agent publishes the artifact from it.
 *
 * @param manifest the manifest without files and regions
 * @param durability when the artifact must be on the disk
 * @param regions the copied regions of each process
 * @param library the path of the direct path's library in the container; null on other data paths
 * @param device the device memory of the direct path
 * @param files the staged files and their sizes; the publication adds others
 * @param attempts the attempts of successors that have not returned: their agents have died, except
 *     that of a current one
 * @param attempted the start of the last attempt of a successor; null before the first
 */
record Capture(
    Manifest manifest,
    Durability durability,
    List<Regions> regions,
    @Nullable String library,
    List<Device> device,
    Map<String, Long> files,
    int attempts,
    @Nullable Instant attempted) {

  private static final String FILE = "capture.json";

  /** The next agents try at once: two may die for other reasons, such as upgrades. */
  private static final int AT_ONCE = 2;

  /** Long enough for an agent to thaw its other workloads, if the attempt is what ends it. */
  private static final Duration FIRST_WAIT = Duration.ofMinutes(1);

  /** The longest wait is an hour: each attempt may end the agent in the middle of other work. */
  private static final int DOUBLINGS = 6;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  Capture {
    regions = List.copyOf(regions);
    device = List.copyOf(device);
    files = Map.copyOf(files);
  }

  /**
   * The regions of one process.
   *
   * @param ownPid its pid in its own namespace
   * @param stage the file that has the bytes
   * @param journal the state of each chunk
   * @param host the regions that are not device memory
   */
  record Regions(int ownPid, String stage, String journal, List<Region> host) {}

  /**
   * The device memory of one process.
   *
   * @param ownPid its pid in its own namespace
   * @param file its files, without the suffixes
   * @param saved whether the files are complete; if not, the keeper has the content
   */
  record Device(ProcessId process, int ownPid, String file, boolean saved, long bytes) {

    Device inFile() {
      return new Device(process, ownPid, file, true, bytes);
    }
  }

  /**
   * Returns the same capture with all device memory in its files.
   *
   * @param sizes all files that are staged now
   */
  Capture saved(Map<String, Long> sizes) {
    Map<String, Long> all = new TreeMap<>(files);
    sizes.forEach(
        (name, size) -> {
          if (Path.of(name).startsWith(ArtifactStage.DEVICE_FOLDER)) {
            all.put(name, size);
          }
        });
    return new Capture(
        manifest,
        durability,
        regions,
        library,
        device.stream().map(Device::inFile).toList(),
        all,
        attempts,
        attempted);
  }

  /** Returns the same capture with another number of attempts that have not returned. */
  Capture withAttempts(int count, Instant last) {
    return new Capture(manifest, durability, regions, library, device, files, count, last);
  }

  /**
   * Returns whether a successor may publish it now. After each attempt that has ended its agent,
   * the next one waits longer.
   */
  boolean isDue(Instant now) {
    if (attempted == null || attempts < AT_ONCE) {
      return true;
    }
    Duration wait = FIRST_WAIT.multipliedBy(1L << Math.min(attempts - AT_ONCE, DOUBLINGS));
    // The clock may have been set back.
    return attempted.isAfter(now) || !attempted.plus(wait).isAfter(now);
  }

  /** Stores it in the folder of a container's journal. */
  void write(Path folder) throws IOException {
    new RecordFile(folder.resolve(FILE)).write(JSON.writeValueAsBytes(this));
  }

  /** Returns the stored capture of a container; empty if there is none. */
  static Optional<Capture> stored(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    return Files.exists(file)
        ? Optional.of(JSON.readValue(Files.readAllBytes(file), Capture.class))
        : Optional.empty();
  }

  /** Returns whether one is stored there. */
  static boolean isStored(Path folder) {
    return Files.exists(folder.resolve(FILE));
  }

  /**
   * Returns whether all device memory is in files. The keeper gives up what it holds of a workload
   * that has ended.
   */
  boolean hasDeviceMemory() {
    return device.stream().allMatch(Device::saved);
  }
}
