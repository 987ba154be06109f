package dev.stasis.agent.direct;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** An answer of {@code stasis-keeper}: {@code ok KEY=VALUE...} or {@code fail REASON}. */
record KeeperAnswer(boolean ok, String text, Map<String, String> values) {

  static KeeperAnswer parse(String line) {
    Map<String, String> values = new HashMap<>();
    boolean ok = line.equals("ok") || line.startsWith("ok ");
    if (ok) {
      for (String word : line.split(" ")) {
        int equals = word.indexOf('=');
        if (equals > 0) {
          values.put(word.substring(0, equals), word.substring(equals + 1));
        }
      }
    }
    return new KeeperAnswer(ok, line.startsWith("fail ") ? line.substring(5) : line, values);
  }

  /** The report about the library in a process; empty if the answer contains none. */
  Optional<Gate> gate() {
    return Gate.state(values.getOrDefault("state", ""))
        .map(
            state ->
                new Gate(
                    state,
                    (int) number("blocks"),
                    number("bytes"),
                    // A library that does not report it may have a single one.
                    number("largest") > 0 ? number("largest") : number("bytes"),
                    values.getOrDefault("notes", "none"),
                    values.getOrDefault("refused", "no").equals("yes")));
  }

  private long number(String key) {
    try {
      return Long.parseLong(values.getOrDefault(key, "0"));
    } catch (NumberFormatException e) {
      return 0; // The library's own count, which may be any number: only the keeper's is relied on.
    }
  }
}
