package dev.stasis.agent.daemon.node;

import dev.stasis.agent.process.RecordFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * GPUs on which no work is started, because the state of a workload on them is unknown. A file for
 * each, named by its UUID, with boot id and reason, keeps this for the agent's successors.
 */
public final class Quarantine {

  private static final System.Logger LOG = System.getLogger(Quarantine.class.getName());

  private final Map<String, String> fenced = new TreeMap<>();
  private final Path folder;
  private final String bootId;
  private final Runnable changed;

  /**
   * Takes over the GPUs that a predecessor has fenced during this boot.
   *
   * @param bootId the current boot: a reboot has reset the GPUs
   * @param changed called on every change
   */
  public Quarantine(Path folder, String bootId, Runnable changed) {
    this.folder = folder;
    this.bootId = bootId;
    this.changed = changed;
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
        files.forEach(this::takeOver);
      } catch (IOException | DirectoryIteratorException e) {
        LOG.log(Level.ERROR, "Cannot read the fenced GPUs", e);
      }
    }
  }

  private void takeOver(Path file) {
    String uuid = String.valueOf(file.getFileName());
    if (!RecordFile.isWhole(file)) {
      return;
    }
    try {
      String[] lines = Files.readString(file).split("\n", 2);
      if (lines.length == 2 && !lines[0].equals(bootId)) {
        Files.delete(file);
      } else {
        fenced.put(uuid, lines.length == 2 ? lines[1] : "fenced earlier, the reason is lost");
      }
    } catch (IOException e) {
      fenced.put(uuid, "fenced earlier, the reason cannot be read: " + e.getMessage());
    }
  }

  /** Fences a GPU; the first reason is kept. */
  public void fence(String uuid, String why) {
    synchronized (fenced) {
      if (fenced.putIfAbsent(uuid, why) != null) {
        return;
      }
      try {
        Files.createDirectories(folder);
        new RecordFile(folder.resolve(uuid)).write(bootId + "\n" + why);
      } catch (IOException e) {
        LOG.log(Level.ERROR, uuid + " is fenced only until the agent exits", e);
      }
    }
    changed.run();
  }

  /** Ends the fencing of a GPU. */
  public void release(String uuid) {
    synchronized (fenced) {
      if (fenced.remove(uuid) == null) {
        return;
      }
      try {
        Files.deleteIfExists(folder.resolve(uuid));
      } catch (IOException e) {
        LOG.log(Level.WARNING, uuid + " stays fenced for a successor", e);
      }
    }
    changed.run();
  }

  /** Returns UUIDs and reasons. */
  public Map<String, String> fenced() {
    synchronized (fenced) {
      return Map.copyOf(fenced);
    }
  }
}
