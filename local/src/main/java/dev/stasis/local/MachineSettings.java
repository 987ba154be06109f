package dev.stasis.local;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What a person can choose. */
@Command(
    name = "stasis-local",
    mixinStandardHelpOptions = true,
    description = {
      "Stasis on one machine, without Kubernetes: a stand-in for the API server and for the",
      "kubelet, with the real operator and the real agent. For the demo and for trying it out."
    })
final class MachineSettings implements Runnable {

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      required = true,
      description = "Pods, images, the store and the kubeconfig; not on an overlay")
  private Path folder = Path.of("");

  @Option(
      names = "--simulated-gpus",
      paramLabel = "DIR",
      description = "The folder that stands for simulated GPUs. Default: the real ones")
  private Optional<Path> simulated = Optional.empty();

  @Option(
      names = "--libcuda",
      paramLabel = "FILE",
      required = true,
      description = "The driver's library, as containers get it")
  private Path libcuda = Path.of("");

  @Option(
      names = "--program-image",
      paramLabel = "NAME=FILE",
      description = "An image NAME of the program FILE and the C library; may be given often")
  private List<String> programs = List.of();

  @Option(names = "--criu", paramLabel = "FILE", required = true, description = "A static criu")
  private Path criu = Path.of("");

  @Option(
      names = "--runtime",
      paramLabel = "FILE",
      required = true,
      description = "The program stasis-runtime")
  private Path runtime = Path.of("");

  @Option(
      names = "--operator",
      paramLabel = "FILE",
      required = true,
      description = "The operator's quarkus-run.jar")
  private Path operator = Path.of("");

  @Option(
      names = "--until-input-ends",
      description = "End when standard input does: whoever started this is gone then")
  private boolean untilInputEnds;

  @Option(
      names = "--state-dir",
      paramLabel = "DIR",
      defaultValue = "/run/stasis",
      description = "Journals and locks. Default: ${DEFAULT-VALUE}")
  private Path stateDir = Path.of("/run/stasis");

  @Option(
      names = "--memory-stage",
      paramLabel = "DIR",
      defaultValue = "/dev/shm/stasis-stage",
      description = "On a tmpfs. Default: ${DEFAULT-VALUE}")
  private Path memoryStage = Path.of("/dev/shm/stasis-stage");

  @Option(
      names = "--port",
      defaultValue = "0",
      description = "Where kubectl is answered. Default: any that is free")
  private int port;

  Path folder() {
    return folder.toAbsolutePath().normalize();
  }

  Optional<Path> simulated() {
    return simulated.map(Path::toAbsolutePath);
  }

  Path libcuda() {
    return libcuda.toAbsolutePath();
  }

  List<String> programs() {
    return programs;
  }

  Path criu() {
    return criu.toAbsolutePath();
  }

  Path runtime() {
    return runtime.toAbsolutePath();
  }

  Path operator() {
    return operator.toAbsolutePath();
  }

  boolean untilInputEnds() {
    return untilInputEnds;
  }

  Path stateDir() {
    return stateDir.toAbsolutePath();
  }

  Path memoryStage() {
    return memoryStage.toAbsolutePath();
  }

  int port() {
    return port;
  }

  @Override
  public void run() {
    // Only parsed.
  }
}
