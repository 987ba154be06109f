package dev.stasis.kubectl.screen;

/**
 * Text that is safe for a terminal. Messages contain names of processes and files that a workload
 * chooses; control characters in them could move the cursor, hide lines or set the title.
 */
public final class Printable {

  /** C0, DEL and C1, and the characters that change the writing direction. */
  private static final String CONTROLS =
      "[\\p{Cntrl}\\x{80}-\\x{9f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}]";

  private Printable() {}

  /** Replaces control characters except line breaks and tabs. */
  public static String lines(String text) {
    return text.replaceAll("(?![\n\t])" + CONTROLS, "?");
  }

  /** Replaces all control characters. */
  public static String line(String text) {
    return text.replaceAll(CONTROLS, "?");
  }
}
