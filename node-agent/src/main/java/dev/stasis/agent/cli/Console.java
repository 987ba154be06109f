package dev.stasis.agent.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Input and output of a command.
 *
 * @param out results
 * @param err progress and messages
 * @param in answers of the user
 * @param errorsOnTerminal whether {@code err} is a terminal
 * @param inputOnTerminal whether the user can answer
 */
record Console(
    PrintStream out,
    PrintStream err,
    InputStream in,
    boolean errorsOnTerminal,
    boolean inputOnTerminal) {

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  static Console standard() {
    return new Console(System.out, System.err, System.in, isTerminal(2), isTerminal(0));
  }

  private static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  void print(Report report, boolean json) {
    if (json) {
      printJson(report.json());
    } else {
      report.lines().forEach(out::println);
    }
    out.flush();
    report.errors().forEach(err::println);
    err.flush();
  }

  private void printJson(Map<String, Object> answer) {
    try {
      out.println(JSON.writeValueAsString(answer));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Asks the user; any answer except yes means no. */
  boolean confirmed(String question) {
    err.print(question + " [yes/no] ");
    err.flush();
    try {
      String answer =
          new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)).readLine();
      return "yes".equals(answer);
    } catch (IOException e) {
      return false;
    }
  }
}
