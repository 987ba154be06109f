package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.screen.Printable;
import java.io.PrintWriter;
import java.util.Map;

/**
 * The output.
 *
 * @param out standard output
 * @param err standard error
 * @param isScreen whether both are a terminal that supports escape sequences
 */
record Terminal(PrintWriter out, PrintWriter err, boolean isScreen) {

  private static final String ERASE_LINE = "\r\u001b[K";

  /**
   * The terminal of this process. The launcher of the JVM knows whether there is a terminal, and
   * passes that in {@code STASIS_TERMINAL}.
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

  /** Erases the text of {@link #overwrite}. */
  void erase() {
    if (isScreen) {
      overwrite("");
    }
  }
}
