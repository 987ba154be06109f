package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.screen.Printable;
import java.io.PrintWriter;
import java.util.Map;

/**
 * Where the output goes.
 *
 * @param out standard output
 * @param err standard error
 * @param isScreen whether both are a terminal that understands escapes
 */
record Terminal(PrintWriter out, PrintWriter err, boolean isScreen) {

  private static final String ERASE_LINE = "\r\u001b[K";

  /**
   * Of this process. The program that starts the JVM knows whether there is a terminal, and says so
   * in {@code STASIS_TERMINAL}.
   */
  static Terminal ofProcess(Map<String, String> environment) {
    return new Terminal(
        new PrintWriter(System.out, true),
        new PrintWriter(System.err, true),
        "yes".equals(environment.get("STASIS_TERMINAL"))
            && !"dumb".equals(environment.get("TERM")));
  }

  /** Prints text to standard output. */
  void say(String text) {
    out.println(Printable.lines(text));
  }

  /** Prints text to standard error. */
  void complain(String text) {
    err.println(Printable.lines(text));
  }

  /** Replaces the last line of the screen. */
  void overwrite(String line) {
    err.print(ERASE_LINE + Printable.line(line));
    err.flush();
  }

  /** Takes back what {@link #overwrite} wrote. */
  void erase() {
    if (isScreen) {
      overwrite("");
    }
  }
}
