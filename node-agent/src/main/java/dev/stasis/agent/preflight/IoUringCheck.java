package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.IoUring;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** io_uring instances that our criu does not support. */
final class IoUringCheck implements Check {

  /** criu cannot determine the entry format of a smaller ring. */
  private static final int LEAST_ENTRIES = 64;

  /** A restore submits this many no-ops. The limit in criu.patch; some seconds. */
  private static final long MOST_SUBMITTED = 1L << 26;

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    List<FailedRequirement> unmet = new ArrayList<>();
    Map<Long, Integer> descriptors = new HashMap<>();
    for (Member member : subject.processes()) {
      member.rings().forEach(ring -> descriptors.merge(ring.inode(), 1, Integer::sum));
    }
    for (Member member : subject.processes()) {
      if (member.rings().isEmpty() && member.mappedFiles().contains(IoUring.TARGET)) {
        unmet.add(found("mapped without a descriptor", member));
      }
      if (!member.rings().isEmpty() && member.addressLimit()) {
        unmet.add(found("with a limit of the address space (ulimit -v)", member));
      }
      for (IoUring ring : member.rings()) {
        fault(ring, descriptors.getOrDefault(ring.inode(), 1))
            .ifPresent(
                fault -> unmet.add(found("%s, descriptor %d".formatted(fault, ring.fd()), member)));
      }
    }
    return unmet;
  }

  private static Optional<String> fault(IoUring ring, int descriptors) {
    if (ring.busy()) {
      return Optional.of("operations in flight");
    }
    if (ring.registered()) {
      return Optional.of("registered files, buffers, credentials or busy polling");
    }
    if (ring.entries() < LEAST_ENTRIES) {
      return Optional.of("a ring of %d entries".formatted(ring.entries()));
    }
    if (ring.submitted() > MOST_SUBMITTED) {
      return Optional.of("%d operations so far".formatted(ring.submitted()));
    }
    return descriptors > 1
        ? Optional.of("a ring with %d descriptors".formatted(descriptors))
        : Optional.empty();
  }

  private static FailedRequirement found(String what, Member member) {
    return Requirement.IO_URING.found(
        "%s, of process %s (%s)".formatted(what, member.id(), member.stat().comm()));
  }
}
