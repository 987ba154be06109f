package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Open files that neither criu nor the driver can carry over, and too many of them. */
final class OpenFileCheck implements Check {

  /** As many does criu open in a process's own name at a time; tried with 4.2.1, one less fails. */
  private static final int CRIUS_OWN = 4;

  /** A CUDA process may have these from the driver, which closes its own before the dump. */
  private static final Set<Requirement> MAYBE_THE_DRIVERS =
      Set.of(Requirement.USERFAULTFD, Requirement.LANDLOCK);

  /**
   * By the link in /proc/PID/fd. Devices are those that programs are known to use; a file below
   * /dev may as well be one of a tmpfs.
   */
  private final Map<Requirement, Predicate<String>> kinds = new EnumMap<>(Requirement.class);

  OpenFileCheck() {
    kinds.put(Requirement.TERMINAL, like("/dev/(pts/.*|tty|console|tty[A-Za-z0-9]+)"));
    kinds.put(Requirement.IO_URING, like("anon_inode:\\[io_uring\\]"));
    kinds.put(Requirement.PERF_EVENT, like("anon_inode:\\[perf_event\\]"));
    kinds.put(Requirement.USERFAULTFD, like("(anon_inode:\\[userfaultfd\\]|/dev/userfaultfd)"));
    kinds.put(
        Requirement.BPF,
        like("anon_inode:\\[?(bpf-map|bpf-prog|bpf_link|bpf_iter|bpf-token|btf)\\]?"));
    kinds.put(Requirement.LANDLOCK, like("anon_inode:\\[?landlock-ruleset\\]?"));
    kinds.put(Requirement.SECCOMP_NOTIFY, like("anon_inode:\\[?seccomp notify\\]?"));
    kinds.put(
        Requirement.DEVICE,
        like(
            "(/dev/(fuse|kvm|dri/.*|nvidia-fs.*|vfio/.*|vhost-.*|udmabuf|dma_heap/.*|snd/.*|uinput"
                + "|hpet|cpu_dma_latency)|anon_inode:kvm-.*|/dmabuf:.*)"));
    kinds.put(Requirement.RDMA, target -> target.startsWith("/dev/infiniband/"));
    kinds.put(Requirement.GDRDRV, target -> target.startsWith("/dev/gdrdrv"));
    kinds.put(Requirement.MPS, target -> target.contains("/nvidia-mps/"));
  }

  private static Predicate<String> like(String pattern) {
    return Pattern.compile(pattern).asMatchPredicate();
  }

  @Override
  public List<Unmet> unmet(Subject subject) {
    List<Unmet> unmet = new ArrayList<>();
    for (Member member : subject.processes()) {
      kinds.forEach(
          (kind, matches) ->
              member.files().stream()
                  .filter(file -> !(member.usesCuda() && MAYBE_THE_DRIVERS.contains(kind)))
                  .filter(file -> matches.test(file.target()))
                  .findFirst()
                  .ifPresent(file -> unmet.add(kind.found(words(member, file)))));
      room(member).ifPresent(unmet::add);
      for (Mount mount : subject.around().mounts()) {
        if (mount.type().equals("overlay")
            && member.watches().contains(mount.major() + ":" + mount.minor())) {
          unmet.add(
              Requirement.INOTIFY.found(
                  "a watch below %s by process %s (%s)"
                      .formatted(mount.mountPoint(), member.id(), member.stat().comm())));
        }
      }
    }
    return unmet;
  }

  private static Optional<Unmet> room(Member member) {
    long limit = member.descriptorLimit();
    long used = member.files().stream().filter(file -> file.fd() < limit).count();
    return limit - used >= CRIUS_OWN
        ? Optional.empty()
        : Optional.of(
            Requirement.DESCRIPTORS.found(
                "%d of %d used by process %s (%s)"
                    .formatted(used, limit, member.id(), member.stat().comm())));
  }

  private static String words(Member member, OpenFile file) {
    return "%s as descriptor %d of process %s (%s)"
        .formatted(file.target(), file.fd(), member.id(), member.stat().comm());
  }
}
