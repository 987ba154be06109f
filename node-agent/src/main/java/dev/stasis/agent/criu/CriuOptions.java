package dev.stasis.agent.criu;

/**
 * What a caller may choose; everything else follows from the container.
 *
 * @param tcp what becomes of established connections on restore
 * @param ghostLimit largest deleted file, in bytes, that is carried inside the images; criu's own 1
 *     MiB is too small for a library's scratch files
 * @param seizeSeconds how long criu may take to seize all processes; its own 10 s fail on a busy
 *     node with a thousand threads, and a stopped tree is seized in milliseconds
 * @param logLevel 0 to 4; 4 names every file, which is what a fault is found by
 * @param deadDevices whether what the tree still holds of GPUs works for nobody, and goes as empty
 *     files and memory; only the criu of bin/setup can do that
 */
public record CriuOptions(
    Tcp tcp, long ghostLimit, int seizeSeconds, int logLevel, boolean deadDevices) {

  /** What becomes of established TCP connections. */
  public enum Tcp {
    /** They go on; only within one network namespace, or with the same address. */
    KEEP,
    /** The workload finds them closed; listening sockets live on. */
    CLOSE
  }

  private static final long MIB = 1024 * 1024;

  public CriuOptions {
    if (ghostLimit < 0 || seizeSeconds < 1 || logLevel < 0 || logLevel > 4) {
      throw new IllegalArgumentException(
          "criu options: wanted ghostLimit >= 0, seizeSeconds >= 1, logLevel 0 to 4, found "
              + ghostLimit
              + ", "
              + seizeSeconds
              + ", "
              + logLevel);
    }
  }

  public static CriuOptions usual() {
    return new CriuOptions(Tcp.CLOSE, 512 * MIB, 120, 4, false);
  }

  public CriuOptions withTcp(Tcp other) {
    return new CriuOptions(other, ghostLimit, seizeSeconds, logLevel, deadDevices);
  }

  public CriuOptions withDeadDevices(boolean some) {
    return new CriuOptions(tcp, ghostLimit, seizeSeconds, logLevel, some);
  }
}
