package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import java.util.ArrayList;
import java.util.List;

/**
 * What a process itself may not be: with a terminal, in a user namespace, stopped, a client of MPS.
 */
final class ProcessCheck implements Check {

  @Override
  public List<Unmet> unmet(Subject subject) {
    List<Unmet> unmet = new ArrayList<>();
    if (subject.cuda().isEmpty()) {
      unmet.add(
          new Unmet(
              "CUDA process",
              "at least one process that uses CUDA",
              "none among " + subject.processes().size() + " processes"));
    }
    for (Member member : subject.processes()) {
      if (member.stat().ttyNumber() != 0) {
        unmet.add(
            new Unmet(
                "terminal",
                "a container without a terminal (tty: false)",
                "a controlling terminal of process %s (%s)"
                    .formatted(member.id(), member.stat().comm())));
      }
      Long user = member.namespaces().get("user");
      if (user != null && user != subject.hostUserNamespace()) {
        unmet.add(
            new Unmet(
                "user namespace",
                "the host's (hostUsers: true)",
                "one of its own for process %s (%s)".formatted(member.id(), member.stat().comm())));
      }
    }
    for (Member member : subject.processes()) {
      if (member.stat().isStopped() && new CudaTraces(member.mappedFiles(), member.files()).any()) {
        unmet.add(
            new Unmet(
                "stopped process",
                "every process that may use CUDA running: the driver answers no call on another",
                "process %s (%s) stopped by a signal; kill -CONT lets it go on"
                    .formatted(member.id(), member.stat().comm())));
      }
    }
    for (Member member : subject.cuda()) {
      String pipe = member.environment().get("CUDA_MPS_PIPE_DIRECTORY");
      if (pipe != null && subject.mpsRunning()) {
        unmet.add(
            new Unmet(
                "MPS",
                "a process that is no client of CUDA's multi-process service",
                "CUDA_MPS_PIPE_DIRECTORY=%s in process %s".formatted(pipe, member.id())));
      }
    }
    return unmet;
  }
}
