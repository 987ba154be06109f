package dev.stasis.agent.preflight;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.IoUring;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The subject of the checks: the processes of a running container.
 *
 * @param processes every process of the tree
 * @param gpus the node's GPUs
 * @param gpuFiles the minor numbers of the GPUs that the container sees; empty if unknown
 * @param hostUserNamespace the inode of the host's user namespace
 * @param mpsRunning whether a process of CUDA's multi-process service may serve the container
 * @param around what the processes share
 * @param contexts the processes with a CUDA context, if there are several
 * @param memoryOn the GPUs on which each process has memory, as NVML lists it; without a process
 *     that NVML does not list
 */
public record Subject(
    List<Member> processes,
    NodeGpus gpus,
    Set<Integer> gpuFiles,
    long hostUserNamespace,
    boolean mpsRunning,
    Surroundings around,
    Contexts contexts,
    Map<ProcessId, Set<GpuUuid>> memoryOn) {

  public Subject {
    processes = List.copyOf(processes);
    gpuFiles = Set.copyOf(gpuFiles);
    memoryOn = Map.copyOf(memoryOn);
  }

  /** A subject in which at most one process has a CUDA context. */
  public Subject(
      List<Member> processes,
      NodeGpus gpus,
      Set<Integer> gpuFiles,
      long hostUserNamespace,
      boolean mpsRunning,
      Surroundings around) {
    this(
        processes,
        gpus,
        gpuFiles,
        hostUserNamespace,
        mpsRunning,
        around,
        Contexts.none(),
        Map.of());
  }

  public List<Member> cuda() {
    return processes.stream().filter(Member::usesCuda).toList();
  }

  /**
   * One process.
   *
   * @param usesCuda whether the driver reports it as a CUDA process
   * @param descriptorLimit the first descriptor number that it may not open ({@code ulimit -n})
   * @param environment its initial environment
   * @param namespaces the inodes of its namespaces
   * @param mappedFiles the paths of its mapped files, and {@code [uprobes]} if it has some
   * @param tracer the pid of the process that traces it, 0 for none
   * @param watches the inodes that it watches by inotify, as {@code MAJOR:MINOR:INODE}
   * @param pidfds the processes to which its pidfds refer
   * @param rings its io_uring instances
   */
  public record Member(
      ProcessStat stat,
      boolean usesCuda,
      List<OpenFile> files,
      long descriptorLimit,
      Map<String, String> environment,
      Map<String, Long> namespaces,
      Set<String> mappedFiles,
      int tracer,
      Set<String> watches,
      Set<Integer> pidfds,
      List<IoUring> rings,
      boolean addressLimit) {

    public Member {
      files = List.copyOf(files);
      environment = Map.copyOf(environment);
      namespaces = Map.copyOf(namespaces);
      mappedFiles = Set.copyOf(mappedFiles);
      watches = Set.copyOf(watches);
      pidfds = Set.copyOf(pidfds);
      rings = List.copyOf(rings);
    }

    public ProcessId id() {
      return stat.id();
    }
  }
}
