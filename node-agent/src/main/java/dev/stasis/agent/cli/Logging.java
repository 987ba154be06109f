package dev.stasis.agent.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/**
 * Sends warnings and worse to standard error, and with {@code verbose} everything. The JDK's own
 * logging is told by a file and nothing else, and once, so this comes before the first message.
 */
record Logging(boolean verbose) {

  private static final String FILE = "java.util.logging.config.file";

  void apply() {
    if (System.getProperty(FILE) != null) {
      return; // Somebody has decided already.
    }
    Properties settings = new Properties();
    settings.setProperty("handlers", "java.util.logging.ConsoleHandler");
    settings.setProperty(".level", verbose ? "INFO" : "WARNING");
    settings.setProperty("dev.stasis.level", verbose ? "ALL" : "WARNING");
    settings.setProperty("java.util.logging.ConsoleHandler.level", "ALL");
    settings.setProperty(
        "java.util.logging.ConsoleHandler.formatter", "java.util.logging.SimpleFormatter");
    settings.setProperty(
        "java.util.logging.SimpleFormatter.format", "%1$tT.%1$tL %4$s: %5$s%6$s%n");
    try {
      Path file = Files.createTempFile("stasis-logging", ".properties");
      try (var writer = Files.newBufferedWriter(file)) {
        settings.store(writer, null);
      }
      System.setProperty(FILE, file.toString());
      // The first logger makes the JDK read it.
      System.getLogger("dev.stasis").isLoggable(System.Logger.Level.INFO);
      Files.delete(file);
    } catch (IOException e) {
      System.getLogger("dev.stasis")
          .log(System.Logger.Level.WARNING, "logging stays as it is: " + e.getMessage());
    }
  }
}
