package dev.stasis.kubectl.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of kubectl for the objects that a command changes, in place of their names. */
final class ObjectSelection {

  @Option(
      names = {"-l", "--selector"},
      paramLabel = "SELECTOR",
      description = "those with these labels, such as stasis.dev/schedule=nightly")
  @Nullable String selector;

  @Option(names = "--all", description = "all of the namespace")
  boolean all;

  /** Returns whether objects are selected without their names. */
  boolean isMade() {
    return all || selector != null;
  }

  /** Returns the selection as options for kubectl. */
  String[] options() {
    return selector == null ? new String[0] : new String[] {"--selector=" + selector};
  }

  /** Fails unless there are either names, a selector or --all. */
  void require(CommandSpec spec, List<String> names) {
    int given = (names.isEmpty() ? 0 : 1) + (selector == null ? 0 : 1) + (all ? 1 : 0);
    if (given != 1) {
      throw new ParameterException(
          spec.commandLine(),
          "expected names, -l SELECTOR or --all, got " + (given == 0 ? "none" : "several"));
    }
  }
}
