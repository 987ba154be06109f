package dev.stasis.agent.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Sends messages to standard error.
 *
 * <p>Configured by calls and not by a file: the logging library of the agent's framework replaces
 * that of the JDK, reads no such file, and buffers every message until a handler is set.
 *
 * @param ours lowest level for Stasis's own classes
 * @param others lowest level for all other classes
 */
public record ProgramLog(System.Logger.Level ours, System.Logger.Level others) {

  private static final String OURS = "dev.stasis";

  /** Takes effect for later messages; earlier ones are lost. */
  public void apply() {
    // The first call decides which implementation logs; it prints a warning if it is selected in
    // another way.
    System.getLogger(OURS).isLoggable(System.Logger.Level.INFO);
    Logger root = LogManager.getLogManager().getLogger("");
    for (Handler other : root.getHandlers()) {
      root.removeHandler(other);
    }
    Handler console = new ConsoleHandler();
    console.setFormatter(new BufferedSocket());
    console.setLevel(Level.ALL);
    console.setFilter(this::isWanted);
    root.addHandler(console);
    root.setLevel(Level.parse("" + Math.min(ours.getSeverity(), others.getSeverity())));
  }

  private boolean isWanted(LogRecord message) {
    boolean own = String.valueOf(message.getLoggerName()).startsWith(OURS);
    return message.getLevel().intValue() >= (own ? ours : others).getSeverity();
  }

  /** {@code 12:30:00.125 INFO: lock of process 7: ...}, followed by the exception. */
  private static final class BufferedSocket extends Formatter {
    private final DateTimeFormatter time =
        DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneId.systemDefault());

    @Override
    public String format(LogRecord message) {
      StringWriter line = new StringWriter();
      PrintWriter print = new PrintWriter(line);
      print.printf(
          "%s %s: %s%n",
          time.format(message.getInstant()), message.getLevel(), formatMessage(message));
      if (message.getThrown() != null) {
        message.getThrown().printStackTrace(print);
      }
      print.flush();
      return line.toString();
    }
  }
}
