package dev.stasis.agent.direct;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The report of the library in a process. The process may lie: then its own checkpoint fails.
 *
 * @param state the owner of the memory
 * @param blocks allocations that the library can pass on
 * @param bytes their total size
 * @param largest size of the largest one, in bytes
 * @param notes what the program did that concerns the path, as the library names it
 * @param refused whether the keeper refuses the process for that
 */
public record Gate(
    State state, int blocks, long bytes, long largest, String notes, boolean refused) {

  /**
   * Returns whether memory was passed to a keeper before: the driver cannot restore the remainder.
   */
  public boolean handed() {
    return List.of(notes.split(",")).contains("handed");
  }

  /** The states of docs/direct-path.md. */
  public enum State {
    /** The program calls the driver. */
    OPEN,
    /** Its callers wait at the gate. */
    CLOSED,
    /** The keeper shares the memory. */
    EXPORTED,
    /** The keeper, or its files, hold the only copy. */
    UNLOADED,
    /** All memory is in the process again. */
    LOADED;

    /** Returns whether the process may lack memory. */
    public boolean isAway() {
      return this == UNLOADED;
    }
  }

  static Optional<State> state(String word) {
    return Arrays.stream(State.values())
        .filter(state -> state.name().toLowerCase(Locale.ROOT).equals(word))
        .findFirst();
  }
}
