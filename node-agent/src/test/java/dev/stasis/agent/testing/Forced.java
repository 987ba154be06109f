package dev.stasis.agent.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/** Which files this JVM has forced to the disk, as it records it itself. */
public final class Forced implements AutoCloseable {

  private final Recording recording = new Recording();

  private Forced() {}

  /** Records from now on. */
  public static Forced record() {
    Forced forced = new Forced();
    forced.recording.enable("jdk.FileForce").withoutThreshold();
    forced.recording.start();
    return forced;
  }

  /** The paths that were forced until now, the first one first. */
  public List<Path> paths() throws IOException {
    Path dump = Files.createTempFile("stasis-forced", ".jfr");
    try {
      recording.dump(dump);
      return RecordingFile.readAllEvents(dump).stream()
          .filter(event -> event.getEventType().getName().equals("jdk.FileForce"))
          .map(event -> Path.of(event.getString("path")).normalize())
          .toList();
    } finally {
      Files.deleteIfExists(dump);
    }
  }

  @Override
  public void close() {
    recording.close();
  }
}
