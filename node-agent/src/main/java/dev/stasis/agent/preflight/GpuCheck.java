package dev.stasis.agent.preflight;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.preflight.Subject.Member;
import java.util.ArrayList;
import java.util.List;

/**
 * What the GPUs and the use of them may not be: cut by MIG, or joined by NCCL's peer-to-peer
 * memory.
 */
final class GpuCheck implements Check {

  private final boolean allowPeerToPeer;

  GpuCheck(boolean allowPeerToPeer) {
    this.allowPeerToPeer = allowPeerToPeer;
  }

  @Override
  public List<Unmet> unmet(Subject subject) {
    List<Unmet> unmet = new ArrayList<>();
    for (Gpu gpu : subject.gpus().gpus()) {
      boolean seen = subject.gpuFiles().isEmpty() || subject.gpuFiles().contains(gpu.index());
      if (gpu.mig() && seen) {
        unmet.add(Requirement.MIG.found("MIG mode on for GPU " + gpu.uuid()));
      }
    }
    List<Member> joined =
        subject.cuda().stream().filter(GpuCheck::usesNccl).filter(GpuCheck::peerToPeer).toList();
    // Whatever the driver: from 610 on it restores memory that members of one launch job share by
    // the older calls, and there is no launch job. Before, Checkpoint says yes and Restore then no,
    // for ever: the workload is lost (seen with driver 580 and NVLink).
    if (!allowPeerToPeer && joined.size() > 1) {
      unmet.add(
          Requirement.NCCL.found(
              "%d processes with libnccl and peer-to-peer on (first: %s)"
                  .formatted(joined.size(), joined.get(0).id())));
    }
    return unmet;
  }

  private static boolean usesNccl(Member member) {
    return member.mappedFiles().stream()
        .map(path -> path.substring(path.lastIndexOf('/') + 1))
        .anyMatch(name -> name.startsWith("libnccl.so") || name.startsWith("libnccl-net"));
  }

  /**
   * Whether NCCL may share the driver's memory between processes: device memory by peer-to-peer,
   * and host memory in its shared-memory transport, which was seen on two H200 to be lost just as
   * well when only peer-to-peer was off.
   */
  private static boolean peerToPeer(Member member) {
    boolean hostShared =
        !"0".equals(member.environment().get("NCCL_CUMEM_HOST_ENABLE"))
            && !"1".equals(member.environment().get("NCCL_SHM_DISABLE"));
    return hostShared || !"1".equals(member.environment().get("NCCL_P2P_DISABLE"));
  }
}
