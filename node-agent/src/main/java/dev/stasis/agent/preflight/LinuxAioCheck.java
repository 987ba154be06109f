package dev.stasis.agent.preflight;

import java.util.List;

/**
 * Contexts of Linux AIO. Nothing outside the process shows whether a context has requests in
 * flight, so each context counts. A checkpoint in place does not need them in the artifact.
 */
final class LinuxAioCheck implements Check {

  /** The kernel maps the ring of a context from a file of this name, which is deleted. */
  private static final String RING = "/[aio]";

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    return subject.processes().stream()
        .filter(member -> member.mappedFiles().stream().anyMatch(path -> path.startsWith(RING)))
        .map(
            member ->
                Requirement.LINUX_AIO.found(
                    "a context of process %s (%s)".formatted(member.id(), member.stat().comm())))
        .toList();
  }
}
