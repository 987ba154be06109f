package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import java.util.ArrayList;
import java.util.List;

/** Properties that a process must not have: traced, stopped, in its own namespace, ... */
final class ProcessCheck implements Check {

  /** A restore creates all processes in the namespaces of its target. */
  private static final List<String> OF_THE_TREE =
      List.of("pid", "ipc", "uts", "net", "mnt", "cgroup", "time");

  private final boolean stoppedByUs;

  /**
   * A check.
   *
   * @param stoppedByUs whether the agent has stopped the workload
   */
  ProcessCheck(boolean stoppedByUs) {
    this.stoppedByUs = stoppedByUs;
  }

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    List<FailedRequirement> unmet = new ArrayList<>();
    if (subject.cuda().isEmpty()) {
      unmet.add(
          Requirement.CUDA_PROCESS.found(
              "none among " + subject.processes().size() + " processes"));
    }
    List<String> objects = subject.around().ipcObjects();
    if (!objects.isEmpty()) {
      unmet.add(
          Requirement.IPC_OBJECTS.found(
              objects.get(0)
                  + (objects.size() > 1 ? " and %d more".formatted(objects.size() - 1) : "")));
    }
    for (Member member : subject.processes()) {
      String name = "process %s (%s)".formatted(member.id(), member.stat().comm());
      if (member.stat().ttyNumber() != 0) {
        unmet.add(Requirement.TERMINAL.found("a controlling terminal of " + name));
      }
      Long user = member.namespaces().get("user");
      if (user != null && user != subject.hostUserNamespace()) {
        unmet.add(Requirement.USER_NAMESPACE.found("a separate one of " + name));
      }
      for (String type : OF_THE_TREE) {
        Long own = member.namespaces().get(type);
        Long common = subject.around().namespaces().get(type);
        if (own != null && common != null && !own.equals(common)) {
          unmet.add(
              Requirement.NESTED_NAMESPACE.found("a %s namespace of %s".formatted(type, name)));
        }
      }
      if (member.tracer() != 0) {
        unmet.add(Requirement.TRACER.found("%s traced by %d".formatted(name, member.tracer())));
      }
      if (member.mappedFiles().contains("[uprobes]")) {
        unmet.add(Requirement.UPROBES.found("a mapping [uprobes] in " + name));
      }
      if (member.mappedFiles().stream().anyMatch(path -> path.startsWith("/SYSV"))) {
        unmet.add(Requirement.SYSTEM_V.found("a segment attached to " + name));
      }
      if (!stoppedByUs
          && member.stat().isStopped()
          && new CudaTraces(member.mappedFiles(), member.files()).any()) {
        unmet.add(Requirement.STOPPED.found(name + " stopped by a signal; kill -CONT resumes it"));
      }
    }
    for (Member member : subject.cuda()) {
      String pipe = member.environment().get("CUDA_MPS_PIPE_DIRECTORY");
      if (pipe != null && subject.mpsRunning()) {
        unmet.add(
            Requirement.MPS.found(
                "CUDA_MPS_PIPE_DIRECTORY=%s in process %s".formatted(pipe, member.id())));
      }
    }
    return unmet;
  }
}
