package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.agent.log.ProgramLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The common part of all commands: the state folder and the format of the answer. */
@Command(mixinStandardHelpOptions = true)
abstract class NodeCommand implements Callable<Integer> {

  private final Environment environment;

  @Option(
      names = "--state-dir",
      paramLabel = "DIR",
      defaultValue = "${env:STASIS_STATE_DIR:-/run/stasis}",
      description =
          "Folder of this node's journals and locks; or STASIS_STATE_DIR. Default:"
              + " ${DEFAULT-VALUE}")
  private Path stateDir = Path.of("/run/stasis");

  @Option(names = "--json", description = "Print the result as one JSON object on standard output")
  private boolean json;

  @Option(
      names = {"-v", "--verbose"},
      description = "Show every driver call, and stack traces of errors")
  private boolean verbose;

  NodeCommand(Environment environment) {
    this.environment = environment;
  }

  /** Runs the command. */
  abstract Report report() throws IOException, InterruptedException;

  @Override
  public final Integer call() throws InterruptedException {
    (verbose ? new ProgramLog(Level.ALL, Level.INFO) : new ProgramLog(Level.WARNING, Level.WARNING))
        .apply();
    Report report;
    try {
      report = report();
    } catch (IOException | UncheckedIOException e) {
      report = fault(e);
    } catch (ParameterException wrongUsage) {
      throw wrongUsage;
    } catch (RuntimeException e) {
      report = fault(e);
      if (!verbose) {
        console().err().println("  -v shows where it happened");
      }
    }
    console().print(report, json);
    int code = report.code().number();
    environment.interruption().ended(code);
    return code;
  }

  private Report fault(Exception fault) {
    if (verbose) {
      fault.printStackTrace(console().err());
    }
    String message =
        fault.getMessage() == null || fault instanceof IOException
            ? fault.toString().replaceFirst("^(?:[a-z]+\\.)+", "")
            : fault.getMessage();
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("outcome", "Fault");
    answer.put("message", message);
    return new Report(
        ExitCode.INTERNAL,
        answer,
        List.of(),
        List.of("stasis-node: " + message, "  Frozen workloads, if any: stasis-node frozen"));
  }

  Console console() {
    return environment.console();
  }

  Environment environment() {
    return environment;
  }

  Path stateDir() {
    return stateDir.toAbsolutePath().normalize();
  }

  /** A driver worker for this command; the caller closes it. */
  DriverWorker worker() throws IOException {
    Files.createDirectories(
        stateDir(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    return new DriverWorker(WorkerSettings.here(stateDir()));
  }
}
