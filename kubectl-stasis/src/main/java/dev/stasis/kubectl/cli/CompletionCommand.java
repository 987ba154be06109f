package dev.stasis.kubectl.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the script that a shell needs to complete commands and options. */
@Command(
    name = "completion",
    description = "Prints a shell completion script.",
    footer = {
      "",
      "kubectl-stasis:    source <(kubectl stasis completion bash)",
      "kubectl stasis:    kubectl stasis completion kubectl > ~/.local/bin/kubectl_complete-stasis",
      "                   chmod +x ~/.local/bin/kubectl_complete-stasis",
      "                   (kubectl's own completion runs that program, in any shell)"
    },
    sortOptions = false)
final class CompletionCommand implements Callable<Integer> {

  enum Shell {
    BASH,
    ZSH,
    KUBECTL
  }

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "shows this help")
  boolean help;

  @Parameters(paramLabel = "bash|zsh|kubectl", description = "the shell")
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Shell shell;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine()
        .getOut()
        .println(
            shell == Shell.KUBECTL
                ? "#!/bin/sh\nexec kubectl-stasis __complete \"$@\""
                : AutoComplete.bash("kubectl-stasis", spec.root().commandLine()).stripTrailing());
    return Exit.DONE;
  }
}
