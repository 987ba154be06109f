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

  /**
   * From this driver on, memory shared between processes may be restored. Before it Checkpoint says
   * yes and Restore then no, for ever: the workload is lost (seen with driver 580 and NVLink).
   */
  private static final int PEER_TO_PEER_DRIVER = 610;

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
        unmet.add(new Unmet("MIG", "a whole GPU", "MIG mode on for GPU " + gpu.uuid()));
      }
    }
    List<Member> joined =
        subject.cuda().stream().filter(GpuCheck::usesNccl).filter(GpuCheck::peerToPeer).toList();
    if (!allowPeerToPeer && joined.size() > 1 && driver(subject) < PEER_TO_PEER_DRIVER) {
      unmet.add(
          new Unmet(
              "NCCL peer-to-peer",
              "NCCL_P2P_DISABLE=1 and NCCL_CUMEM_HOST_ENABLE=0 in each of several processes, or driver %d and later"
                  .formatted(PEER_TO_PEER_DRIVER),
              "%d processes with libnccl and peer-to-peer on (first: %s), driver %s"
                  .formatted(joined.size(), joined.get(0).id(), subject.gpus().driverVersion())));
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

  private static int driver(Subject subject) {
    String major = subject.gpus().driverVersion().split("\\.", 2)[0];
    return major.matches("[0-9]{1,9}") ? Integer.parseInt(major) : 0;
  }
}
