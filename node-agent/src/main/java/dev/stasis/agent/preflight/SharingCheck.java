package dev.stasis.agent.preflight;

import dev.stasis.agent.preflight.Contexts.Holder;
import dev.stasis.agent.preflight.Contexts.SharedMemory;
import dev.stasis.agent.preflight.Subject.Member;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * GPU memory that two processes share. The driver's Checkpoint takes it and its Restore then fails
 * permanently: the workload is lost. A process that imports memory of another one looks like any
 * other in /proc and NVML (seen with driver 580), so the check is whether the two have a channel
 * through which a handle could have been passed. The driver version does not matter: from 610 on it
 * restores what members of one launch job share by the legacy calls, and there is no launch job.
 */
final class SharingCheck implements Check {

  /**
   * The driver creates one for an exported event, and a process that imports the event maps it too.
   */
  private static final String EXPORTED = "/dev/shm/cuda.shm.";

  /** Libraries that share device memory between processes with any settings of NCCL. */
  private static final List<String> SHARE_BY_THEMSELVES =
      List.of(
          "/libnvshmem", "/libuct_cuda", "/vllm/_C", "/sgl_kernel/", "/tensorrt_llm/", "/deep_ep");

  private final boolean nothingShared;

  /**
   * The check.
   *
   * @param nothingShared whether the user states that the processes share no GPU memory
   */
  SharingCheck(boolean nothingShared) {
    this.nothingShared = nothingShared;
  }

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    Map<Requirement, List<String>> found = new EnumMap<>(Requirement.class);
    List<Holder> holders = subject.contexts().holders();
    Channels channels = new Channels(subject.around().sockets(), subject.contexts().unixPeers());
    for (int i = 0; i < holders.size(); i++) {
      for (int j = i + 1; j < holders.size(); j++) {
        Holder one = holders.get(i);
        Holder other = holders.get(j);
        judge(one, other, channels)
            .ifPresent(
                refused ->
                    found
                        .computeIfAbsent(refused.requirement(), key -> new ArrayList<>())
                        .add(
                            "%s between process %s (%s) and process %s (%s)"
                                .formatted(
                                    refused.sign(),
                                    one.member().id(),
                                    one.member().stat().comm(),
                                    other.member().id(),
                                    other.member().stat().comm())));
      }
    }
    List<FailedRequirement> unmet = new ArrayList<>();
    found.forEach(
        (requirement, pairs) ->
            unmet.add(
                requirement.found(
                    pairs.get(0)
                        + (pairs.size() > 1
                            ? ", and %d more pairs".formatted(pairs.size() - 1)
                            : ""))));
    return unmet;
  }

  private record Refused(Requirement requirement, String sign) {}

  private Optional<Refused> judge(Holder one, Holder other, Channels channels) {
    List<SharedMemory> memory = Channels.memory(one, other);
    Optional<SharedMemory> exported =
        memory.stream().filter(file -> file.path().startsWith(EXPORTED)).findFirst();
    if (exported.isPresent()) {
      return Optional.of(
          new Refused(Requirement.SHARING, "CUDA IPC (%s)".formatted(exported.get().path())));
    }
    Optional<String> sign =
        memory.stream()
            .findFirst()
            .map(file -> "shared memory (%s)".formatted(file.path()))
            .or(() -> channels.between(one.member(), other.member()));
    if (sign.isEmpty() || nothingShared) {
      return Optional.empty();
    }
    List<Member> both = List.of(one.member(), other.member());
    if (!both.stream().allMatch(SharingCheck::usesNccl)
        || both.stream().anyMatch(SharingCheck::sharesByItself)) {
      return sign.map(words -> new Refused(Requirement.SHARING, words));
    }
    if (!both.stream().allMatch(SharingCheck::keepsNcclApart)) {
      return sign.map(words -> new Refused(Requirement.NCCL, words));
    }
    return both.stream().allMatch(SharingCheck::avoidsNvls)
        ? Optional.empty()
        : sign.map(words -> new Refused(Requirement.NVLS, words));
  }

  static boolean usesNccl(Member member) {
    return member.mappedFiles().stream()
        .map(path -> path.substring(path.lastIndexOf('/') + 1))
        .anyMatch(name -> name.startsWith("libnccl.so") || name.startsWith("libnccl-net"));
  }

  private static boolean sharesByItself(Member member) {
    return member.mappedFiles().stream()
        .anyMatch(path -> SHARE_BY_THEMSELVES.stream().anyMatch(path::contains));
  }

  /**
   * Returns whether NCCL is configured not to share the driver's memory: device memory by
   * peer-to-peer, and host memory in its shared-memory transport. The latter alone lost a job on
   * two H200.
   */
  private static boolean keepsNcclApart(Member member) {
    return is(member, "NCCL_P2P_DISABLE", "1")
        && (is(member, "NCCL_CUMEM_HOST_ENABLE", "0") || is(member, "NCCL_SHM_DISABLE", "1"));
  }

  static boolean avoidsNvls(Member member) {
    return is(member, "NCCL_NVLS_ENABLE", "0");
  }

  private static boolean is(Member member, String setting, String value) {
    return value.equals(member.environment().get(setting));
  }
}
