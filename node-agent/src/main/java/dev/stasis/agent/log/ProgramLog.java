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
 * <p>By calls and not by a file of settings: the library of the agent's framework that takes the
 * place of the JDK's own logging reads none, and keeps every message until somebody takes it.
 *
 * @param ours the least that is said of Stasis's own classes
 * @param others the same of all others
 */
public record ProgramLog(System.Logger.Level ours, System.Logger.Level others) {

  private static final String OURS = "dev.stasis";

  /** From now on; what was said before is lost. */
  public void apply() {
    // The first one decides whose logging it is; asked for by another way it complains.
    System.getLogger(OURS).isLoggable(System.Logger.Level.INFO);
    Logger root = LogManager.getLogManager().getLogger("");
    for (Handler other : root.getHandlers()) {
      root.removeHandler(other);
    }
    Handler console = new ConsoleHandler();
    console.setFormatter(new Line());
    console.setLevel(Level.ALL);
    console.setFilter(this::isWanted);
    root.addHandler(console);
    root.setLevel(Level.parse("" + Math.min(ours.getSeverity(), others.getSeverity())));
  }

  private boolean isWanted(LogRecord message) {
    boolean own = String.valueOf(message.getLoggerName()).startsWith(OURS);
    return message.getLevel().intValue() >= (own ? ours : others).getSeverity();
  }

  /** {@code 12:30:00.125 INFO: lock of process 7: ...}, and behind it what was thrown. */
  private static final class Line extends Formatter {
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
