package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.ClusterFailure;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The main class. */
@Command(
    name = "kubectl stasis",
    description = "Checkpoints, restores and migrates GPU pods.",
    mixinStandardHelpOptions = true,
    versionProvider = BuildVersion.class,
    sortOptions = false,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 the cluster refused or does not"
          + " answer,",
      "4 not finished in time (it continues).",
      "Requests go through kubectl; KUBECTL=/path/to/kubectl selects another one."
    })
public final class KubectlStasis implements Runnable {

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  /** In the order of the help. */
  private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("checkpoint", CheckpointCommand.class);
    COMMANDS.put("restore", RestoreCommand.class);
    COMMANDS.put("import", ImportCommand.class);
    COMMANDS.put("migrate", MigrateCommand.class);
    COMMANDS.put("suspend", SuspendCommand.class);
    COMMANDS.put("resume", ResumeCommand.class);
    COMMANDS.put("cancel", CancelCommand.class);
    COMMANDS.put("explain", ExplainCommand.class);
    COMMANDS.put("list", ListCommand.class);
    COMMANDS.put("logs", LogsCommand.class);
    COMMANDS.put("nodes", NodesCommand.class);
    COMMANDS.put("store", StoreCommand.class);
    COMMANDS.put("doctor", DoctorCommand.class);
    COMMANDS.put("top", TopCommand.class);
    COMMANDS.put("completion", CompletionCommand.class);
    COMMANDS.put("__complete", CompleteCommand.class);
  }

  /** The command whose options are read for all others. */
  private static final Set<String> NEED_ALL = Set.of("completion", "__complete");

  private KubectlStasis() {}

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "command: expected one, got none");
  }

  /** Runs the program. */
  public static void main(String[] arguments) {
    System.exit(run(Session.ofProcess(System.getenv()), arguments));
  }

  /** Runs one command, and returns the exit code. */
  static int run(Session session, String... arguments) {
    CommandLine line = new CommandLine(new KubectlStasis(), new Commands(session));
    commands(arguments).forEach(line::addSubcommand);
    line.setOut(session.terminal().out());
    line.setErr(session.terminal().err());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setExecutionExceptionHandler((thrown, command, parsed) -> failed(session, thrown));
    return line.execute(arguments);
  }

  /**
   * Only the requested subcommand, since loading all of them takes a third of the start; otherwise
   * all.
   */
  private static Collection<Class<?>> commands(String... arguments) {
    String first = arguments.length == 0 ? "" : arguments[0];
    Class<?> one = COMMANDS.get(first);
    return one == null || NEED_ALL.contains(first) ? COMMANDS.values() : List.of(one);
  }

  private static int failed(Session session, Exception thrown) throws Exception {
    session.terminal().erase();
    if (thrown instanceof ClusterFailure failure) {
      session.terminal().complain("error: " + failure.getMessage());
      if (!failure.advice().isEmpty()) {
        session.terminal().complain("  " + failure.advice());
      }
      return Exit.CLUSTER;
    }
    throw thrown;
  }

  /** Creates the session of the commands. */
  private static final class Commands implements CommandLine.IFactory {
    private final Session session;

    Commands(Session session) {
      this.session = session;
    }

    @Override
    public <K> K create(Class<K> type) throws Exception {
      if (ClusterCommand.class.isAssignableFrom(type)) {
        return type.getDeclaredConstructor(Session.class).newInstance(session);
      }
      return CommandLine.defaultFactory().create(type);
    }
  }
}
