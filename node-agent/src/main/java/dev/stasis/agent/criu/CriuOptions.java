package dev.stasis.agent.criu;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options that a caller may choose; all others follow from the container.
 *
 * @param tcp handling of established connections on restore
 * @param ghostLimit size limit, in bytes, of a deleted file stored in the images; criu's default of
 *     1 MiB is too small for a library's temporary files
 * @param seizeSeconds how long criu may take to seize all processes; its own 10 s fail on a busy
 *     node with a thousand threads, and a stopped tree is seized in milliseconds
 * @param logLevel 0 to 4. Errors are level 1, and {@link CriuLog} reads nothing else. Level 4
 *     writes about 8 lines per mapping and one per file, which adds tens of milliseconds to a
 *     freeze or a restore, for a log that is removed with the work folder
 * @param deadDevices whether GPU files and mappings that the tree still has are unused and can be
 *     replaced by empty files and memory; only the criu of bin/setup supports this
 * @param saved memory with pages that a dump leaves out
 * @param appArmorProfile the profile of every restored thread; null for the agent's
 */
public record CriuOptions(
    Tcp tcp,
    long ghostLimit,
    int seizeSeconds,
    int logLevel,
    boolean deadDevices,
    List<SavedMemory> saved,
    @Nullable String appArmorProfile) {

  /** The handling of established TCP connections. */
  public enum Tcp {
    /** They continue; only within one network namespace, or with the same address. */
    KEEP,
    /** They are closed in the restored workload; listening sockets are kept. */
    CLOSE
  }

  private static final long MIB = 1024 * 1024;

  public CriuOptions {
    saved = List.copyOf(saved);
    if (ghostLimit < 0 || seizeSeconds < 1 || logLevel < 0 || logLevel > 4) {
      throw new IllegalArgumentException(
          "criu options: expected ghostLimit >= 0, seizeSeconds >= 1, logLevel 0 to 4, got "
              + ghostLimit
              + ", "
              + seizeSeconds
              + ", "
              + logLevel);
    }
  }

  public static CriuOptions usual() {
    return new CriuOptions(Tcp.CLOSE, 512 * MIB, 120, 2, false, List.of(), null);
  }

  public CriuOptions withTcp(Tcp other) {
    return new CriuOptions(
        other, ghostLimit, seizeSeconds, logLevel, deadDevices, saved, appArmorProfile);
  }

  public CriuOptions withDeadDevices(boolean some) {
    return new CriuOptions(tcp, ghostLimit, seizeSeconds, logLevel, some, saved, appArmorProfile);
  }

  public CriuOptions withSaved(List<SavedMemory> some) {
    return new CriuOptions(
        tcp, ghostLimit, seizeSeconds, logLevel, deadDevices, some, appArmorProfile);
  }

  public CriuOptions withAppArmorProfile(@Nullable String name) {
    return new CriuOptions(tcp, ghostLimit, seizeSeconds, logLevel, deadDevices, saved, name);
  }
}
