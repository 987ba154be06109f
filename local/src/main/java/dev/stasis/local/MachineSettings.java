package dev.stasis.local;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command line of the single-machine mode. */
@Command(
    name = "stasis-local",
    mixinStandardHelpOptions = true,
    description = {
      "Stasis on one machine, without Kubernetes: a stand-in for the API server and for the",
      "kubelet, with the real operator and the real agent. For the demo and for evaluation."
    })
final class MachineSettings implements Runnable {

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      required = true,
      description = "Pods, images, the store and the kubeconfig; not on an overlay")
  Path folder = Path.of("");

  @Option(
      names = "--simulated-gpus",
      paramLabel = "DIR",
      description = "The folder of the simulated GPUs. Default: the real GPUs")
  Optional<Path> simulated = Optional.empty();

  @Option(
      names = "--libcuda",
      paramLabel = "FILE",
      required = true,
      description = "The driver library that containers get")
  Path libcuda = Path.of("");

  @Option(
      names = "--program-image",
      paramLabel = "NAME=FILE",
      description = "An image NAME of the program FILE and the C library; may be repeated")
  List<String> programs = List.of();

  @Option(names = "--criu", paramLabel = "FILE", required = true, description = "A static criu")
  Path criu = Path.of("");

  @Option(
      names = "--runtime",
      paramLabel = "FILE",
      required = true,
      description = "The program stasis-runtime")
  Path runtime = Path.of("");

  @Option(
      names = "--operator",
      paramLabel = "FILE",
      required = true,
      description = "The operator's quarkus-run.jar")
  Path operator = Path.of("");

  @Option(
      names = "--until-input-ends",
      description = "Exit when standard input ends: the parent process is gone then")
  boolean untilInputEnds;

  @Option(
      names = "--state-dir",
      paramLabel = "DIR",
      defaultValue = "/run/stasis",
      description = "Journals and locks. Default: ${DEFAULT-VALUE}")
  Path stateDir = Path.of("/run/stasis");

  @Option(
      names = "--memory-stage",
      paramLabel = "DIR",
      defaultValue = "/dev/shm/stasis-stage",
      description = "On a tmpfs. Default: ${DEFAULT-VALUE}")
  Path memoryStage = Path.of("/dev/shm/stasis-stage");

  @Option(
      names = "--port",
      defaultValue = "0",
      description = "Port of the API server. Default: any free port")
  int port;

  @Override
  public void run() {
    // Only parsed.
  }
}
