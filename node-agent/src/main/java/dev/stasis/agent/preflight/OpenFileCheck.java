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
import java.util.stream.Collectors;

/** Open files that neither criu nor the driver can restore, and too many of them. */
final class OpenFileCheck implements Check {

  /**
   * The number of descriptors that criu opens in a process at the same time; tested with 4.2.1, one
   * less fails.
   */
  private static final int CRIUS_OWN = 4;

  private static final int O_DIRECT = 040000;

  /** A CUDA process may have these from the driver, which closes them before the dump. */
  private static final Set<Requirement> MAYBE_THE_DRIVERS =
      Set.of(Requirement.USERFAULTFD, Requirement.LANDLOCK);

  /**
   * By the link in /proc/PID/fd. The list has the devices that programs are known to use; another
   * file below /dev may be on a tmpfs.
   */
  private final Map<Requirement, Predicate<String>> kinds = new EnumMap<>(Requirement.class);

  OpenFileCheck() {
    kinds.put(Requirement.TERMINAL, like("/dev/(pts/.*|tty|console|tty[A-Za-z0-9]+)"));
    kinds.put(Requirement.FANOTIFY, like("anon_inode:\\[fanotify\\]"));
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
    kinds.put(Requirement.SECRET_MEMORY, like("/secretmem.*"));
    kinds.put(Requirement.RDMA, target -> target.startsWith("/dev/infiniband/"));
    kinds.put(Requirement.GDRDRV, target -> target.startsWith("/dev/gdrdrv"));
    kinds.put(Requirement.MPS, target -> target.contains("/nvidia-mps/"));
  }

  private static Predicate<String> like(String pattern) {
    return Pattern.compile(pattern).asMatchPredicate();
  }

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    List<FailedRequirement> unmet = new ArrayList<>();
    for (Member member : subject.processes()) {
      kinds.forEach(
          (kind, matches) ->
              member.files().stream()
                  .filter(file -> !(member.usesCuda() && MAYBE_THE_DRIVERS.contains(kind)))
                  .filter(file -> matches.test(file.target()))
                  .findFirst()
                  .ifPresent(file -> unmet.add(kind.found(words(member, file)))));
      room(member).ifPresent(unmet::add);
      watches(member, subject.around()).ifPresent(unmet::add);
      queue(member, subject.around()).ifPresent(unmet::add);
      member.files().stream()
          .filter(file -> file.isPipe() && (file.flags() & O_DIRECT) != 0)
          .findFirst()
          .ifPresent(file -> unmet.add(Requirement.PACKET_PIPE.found(words(member, file))));
      for (int pid : member.pidfds()) {
        if (subject.processes().stream().noneMatch(other -> other.id().pid() == pid)) {
          unmet.add(
              Requirement.PIDFD.found(
                  "one of process %d, held by %s".formatted(pid, name(member))));
        }
      }
    }
    return unmet;
  }

  private static Optional<FailedRequirement> queue(Member member, Surroundings around) {
    Set<Integer> queues =
        around.mounts().stream()
            .filter(mount -> mount.type().equals("mqueue"))
            .map(Mount::id)
            .collect(Collectors.toSet());
    return member.files().stream()
        .filter(file -> queues.contains(file.mountId()))
        .findFirst()
        .map(file -> Requirement.MESSAGE_QUEUE.found(words(member, file)));
  }

  /** The kernel opens files of an overlay only by path. */
  private static Optional<FailedRequirement> watches(Member member, Surroundings around) {
    for (Mount mount : around.mounts()) {
      String device = mount.major() + ":" + mount.minor() + ":";
      for (String watch : member.watches()) {
        if (mount.type().equals("overlay")
            && watch.startsWith(device)
            && !around.watched().containsKey(watch)) {
          return Optional.of(
              Requirement.INOTIFY.found(
                  "a watch on inode %s below %s by %s"
                      .formatted(
                          watch.substring(device.length()), mount.mountPoint(), name(member))));
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<FailedRequirement> room(Member member) {
    long limit = member.descriptorLimit();
    long used = member.files().stream().filter(file -> file.fd() < limit).count();
    return limit - used >= CRIUS_OWN
        ? Optional.empty()
        : Optional.of(
            Requirement.DESCRIPTORS.found(
                "%d of %d used by %s".formatted(used, limit, name(member))));
  }

  private static String words(Member member, OpenFile file) {
    return "%s as descriptor %d of %s".formatted(file.target(), file.fd(), name(member));
  }

  private static String name(Member member) {
    return "process %s (%s)".formatted(member.id(), member.stat().comm());
  }
}
