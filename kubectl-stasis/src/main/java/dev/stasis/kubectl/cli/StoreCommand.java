package dev.stasis.kubectl.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands for stores. */
@Command(
    name = "store",
    description = "Lists stores and their artifacts, verifies artifacts, frees unused space.",
    subcommands = {StoreListCommand.class, StoreVerifyCommand.class, StoreCollectCommand.class},
    sortOptions = false,
    synopsisSubcommandLabel = "COMMAND")
final class StoreCommand implements Runnable {

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "shows this help")
  boolean help;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "store: expected ls, verify or gc, got none");
  }
}
