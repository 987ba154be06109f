package dev.stasis.agent.engine;

import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcLimitException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Bounds what one inspection keeps of all processes of a container together. Equal texts are kept
 * once: forked children have most of their parent's.
 */
final class InspectionMemory {

  /** A tenth of the agent's heap. A container of 200 Python processes has some 5 MiB. */
  private static final long MOST_BYTES = 32L << 20;

  /** An estimate of what an entry takes in its collection. */
  private static final int ENTRY_BYTES = 32;

  private static final int TEXT_BYTES = 64;

  private final Map<String, String> texts = new HashMap<>();
  private long bytes;

  /**
   * Returns an equal text, kept until the inspection ends.
   *
   * @throws ProcLimitException if all that was kept exceeds the limit
   */
  String keep(int pid, String text) {
    String known = texts.get(text);
    bytes += ENTRY_BYTES + (known == null ? TEXT_BYTES + text.length() : 0);
    if (bytes > MOST_BYTES) {
      throw new ProcLimitException(
          "arguments, environment, mapped and open files up to process " + pid,
          "at most " + (MOST_BYTES >> 20) + " MiB in all processes of the container");
    }
    if (known == null) {
      texts.put(text, text);
      return text;
    }
    return known;
  }

  OpenFile keep(int pid, OpenFile file) {
    return new OpenFile(
        file.fd(), keep(pid, file.target()), file.flags(), file.position(), file.mountId());
  }

  Map<String, String> keep(int pid, Map<String, String> environment) {
    Map<String, String> kept = new LinkedHashMap<>();
    environment.forEach((name, value) -> kept.put(keep(pid, name), keep(pid, value)));
    return kept;
  }
}
