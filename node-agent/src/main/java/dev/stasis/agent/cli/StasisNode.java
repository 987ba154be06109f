package dev.stasis.agent.cli;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The program {@code stasis-node}. */
@Command(
    name = "stasis-node",
    mixinStandardHelpOptions = true,
    versionProvider = StasisNode.Version.class,
    description = {
      "Checkpoints and restores GPU containers of this node. Needs root.",
      "Help for a command: stasis-node COMMAND --help"
    })
public final class StasisNode implements Runnable {

  @Spec private @Nullable CommandSpec spec;

  /** Starts the program. */
  public static void main(String[] arguments) {
    Console console = Console.standard();
    Environment.Interruption interruption = new Environment.Interruption(console);
    interruption.install();
    int code = run(new Environment(console, Clock.systemUTC(), interruption), arguments);
    interruption.ended(code);
    System.exit(code);
  }

  /** Runs one command and returns its exit code. */
  static int run(Environment environment, String... arguments) {
    return commandLine(environment).execute(arguments);
  }

  static CommandLine commandLine(Environment environment) {
    CommandLine line = new CommandLine(new StasisNode());
    line.addSubcommand(new GpusCommand(environment));
    line.addSubcommand(new CheckCommand(environment));
    line.addSubcommand(new CheckpointCommand(environment));
    line.addSubcommand(new RestoreCommand(environment));
    line.addSubcommand(new InspectCommand(environment));
    line.addSubcommand(new FrozenCommand(environment));
    line.addSubcommand(new ThawCommand(environment));
    line.addSubcommand(new EndCommand(environment));
    line.addSubcommand(new AutoComplete.GenerateCompletion());
    line.registerConverter(Span.class, new Span.Converter());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setOut(writer(environment.console().out()));
    line.setErr(writer(environment.console().err()));
    line.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
    line.setParameterExceptionHandler(StasisNode::wrongUsage);
    explain(line);
    return line;
  }

  /** The help of every command ends with the exit codes. */
  private static void explain(CommandLine line) {
    line.getCommandSpec()
        .usageMessage()
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(ExitCode.list())
        .width(100);
    line.getSubcommands().values().forEach(StasisNode::explain);
  }

  private static PrintWriter writer(java.io.OutputStream stream) {
    return new PrintWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8), true);
  }

  private static int wrongUsage(ParameterException fault, String[] arguments) {
    PrintWriter err = fault.getCommandLine().getErr();
    String message = String.valueOf(fault.getMessage()).replaceFirst("^Error: ", "");
    err.println("stasis-node: " + message);
    err.println("  see: " + fault.getCommandLine().getCommandSpec().qualifiedName() + " --help");
    return ExitCode.USAGE.number();
  }

  @Override
  public void run() {
    if (spec != null) {
      throw new ParameterException(spec.commandLine(), "command: expected one, got none");
    }
  }

  /** The output of {@code --version}. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = StasisNode.class.getPackage().getImplementationVersion();
      return new String[] {"stasis-node " + (version == null ? "built from source" : version)};
    }
  }
}
