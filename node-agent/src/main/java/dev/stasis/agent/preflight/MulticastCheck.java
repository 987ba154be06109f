package dev.stasis.agent.preflight;

import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.preflight.Subject.Member;
import dev.stasis.agent.process.OpenFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Multicast memory, which NCCL uses between GPUs with NVLink (NVLS), also within one process. The
 * driver's Checkpoint of such a process never returns, and neither does any later call: the process
 * stays frozen (one process of PyTorch's DataParallel on two H100, driver 580). Such memory looks
 * like any other in /proc and NVML, so the check is whether NCCL may use it.
 */
final class MulticastCheck implements Check {

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    if (!linked(subject)) {
      return List.of();
    }
    List<FailedRequirement> unmet = new ArrayList<>();
    for (Member member : subject.cuda()) {
      int gpus = gpus(subject, member);
      if (gpus > 1 && SharingCheck.usesNccl(member) && !SharingCheck.avoidsNvls(member)) {
        unmet.add(
            Requirement.NVLS.found(
                "process %s (%s) with libnccl and %d GPUs"
                    .formatted(member.id(), member.stat().comm(), gpus)));
      }
    }
    return unmet;
  }

  private static boolean linked(Subject subject) {
    return subject.gpus().links().stream()
        .anyMatch(
            link ->
                link.relation() == GpuLink.Relation.NVLINK
                    && sees(subject, link.first())
                    && sees(subject, link.second()));
  }

  private static boolean sees(Subject subject, int gpu) {
    return subject.gpuFiles().isEmpty() || subject.gpuFiles().contains(gpu);
  }

  /**
   * Returns on how many GPUs a process has memory. If NVML does not list it, those count whose
   * device files it has open, although every CUDA process opens the files of all GPUs that it sees.
   */
  private static int gpus(Subject subject, Member member) {
    Set<GpuUuid> listed = subject.memoryOn().getOrDefault(member.id(), Set.of());
    return listed.isEmpty()
        ? (int)
            member.files().stream()
                .map(OpenFile::target)
                .filter(target -> target.matches("/dev/nvidia[0-9]+"))
                .distinct()
                .count()
        : listed.size();
  }
}
