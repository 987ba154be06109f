package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.OpenFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Open files that neither criu nor the driver can carry over, and too many of them. */
final class OpenFileCheck implements Check {

  /** As many does criu open in a process's own name at a time; tried with 4.2.1, one less fails. */
  private static final int CRIUS_OWN = 4;

  private enum Kind {
    TTY("terminal", "a container without a terminal (tty: false)"),
    IO_URING("io_uring", "no io_uring: criu cannot dump one (UV_USE_IO_URING=0 turns libuv's off)"),
    RDMA("RDMA", "no open InfiniBand or RDMA device"),
    GDRDRV("gdrdrv", "no open /dev/gdrdrv (GDRCopy)"),
    MPS("MPS", "a process that is no client of CUDA's multi-process service");

    private final String property;
    private final String wanted;

    Kind(String property, String wanted) {
      this.property = property;
      this.wanted = wanted;
    }
  }

  @Override
  public List<Unmet> unmet(Subject subject) {
    List<Unmet> unmet = new ArrayList<>();
    for (Member member : subject.processes()) {
      for (Kind kind : Kind.values()) {
        member.files().stream()
            .filter(file -> is(kind, file.target()))
            .findFirst()
            .ifPresent(file -> unmet.add(unmet(kind, member, file)));
      }
      room(member).ifPresent(unmet::add);
    }
    return unmet;
  }

  private static Optional<Unmet> room(Member member) {
    long limit = member.descriptorLimit();
    long used = member.files().stream().filter(file -> file.fd() < limit).count();
    return limit - used >= CRIUS_OWN
        ? Optional.empty()
        : Optional.of(
            new Unmet(
                "open files",
                "%d descriptors free for criu below the limit (ulimit -n)".formatted(CRIUS_OWN),
                "%d of %d used by process %s (%s)"
                    .formatted(used, limit, member.id(), member.stat().comm())));
  }

  private static Unmet unmet(Kind kind, Member member, OpenFile file) {
    return new Unmet(
        kind.property,
        kind.wanted,
        "%s as descriptor %d of process %s (%s)"
            .formatted(file.target(), file.fd(), member.id(), member.stat().comm()));
  }

  private static boolean is(Kind kind, String target) {
    return switch (kind) {
      case TTY ->
          target.startsWith("/dev/pts/")
              || target.equals("/dev/tty")
              || target.equals("/dev/console")
              || target.matches("/dev/tty[A-Za-z0-9]+");
      case IO_URING -> target.startsWith("anon_inode:[io_uring]");
      case RDMA -> target.startsWith("/dev/infiniband/");
      case GDRDRV -> target.startsWith("/dev/gdrdrv");
      case MPS -> target.contains("/nvidia-mps/");
    };
  }
}
