package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import java.util.ArrayList;
import java.util.List;

/** What a process itself may not be: traced, stopped, in a namespace of its own, ... */
final class ProcessCheck implements Check {

  /**
   * Namespaces that criu dumps for a whole tree alone. It has ways for nested mount and network
   * namespaces.
   */
  private static final List<String> OF_THE_TREE = List.of("pid", "ipc", "uts");

  @Override
  public List<Unmet> unmet(Subject subject) {
    List<Unmet> unmet = new ArrayList<>();
    if (subject.cuda().isEmpty()) {
      unmet.add(
          Requirement.CUDA_PROCESS.found(
              "none among " + subject.processes().size() + " processes"));
    }
    for (Member member : subject.processes()) {
      String name = "process %s (%s)".formatted(member.id(), member.stat().comm());
      if (member.stat().ttyNumber() != 0) {
        unmet.add(Requirement.TERMINAL.found("a controlling terminal of " + name));
      }
      Long user = member.namespaces().get("user");
      if (user != null && user != subject.hostUserNamespace()) {
        unmet.add(Requirement.USER_NAMESPACE.found("one of its own for " + name));
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
      if (member.stat().isStopped() && new CudaTraces(member.mappedFiles(), member.files()).any()) {
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
