package dev.stasis.agent.preflight;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is looked at: the processes of a container as they are while it runs.
 *
 * @param processes every process of the tree
 * @param gpus the node's GPUs
 * @param gpuFiles the minor numbers of the GPUs that the container sees; empty when it cannot be
 *     told
 * @param hostUserNamespace the inode of the host's user namespace
 * @param mpsRunning whether a process of CUDA's multi-process service runs on this node
 * @param around what the processes share
 */
public record Subject(
    List<Member> processes,
    NodeGpus gpus,
    Set<Integer> gpuFiles,
    long hostUserNamespace,
    boolean mpsRunning,
    Surroundings around) {

  public Subject {
    processes = List.copyOf(processes);
    gpuFiles = Set.copyOf(gpuFiles);
  }

  /** The processes that use CUDA. */
  public List<Member> cuda() {
    return processes.stream().filter(Member::usesCuda).toList();
  }

  /**
   * One process.
   *
   * @param stat its stat
   * @param usesCuda whether the driver knows it
   * @param files its open files
   * @param descriptorLimit the first descriptor that it may no longer open ({@code ulimit -n})
   * @param environment what it was started with
   * @param namespaces the inodes of its namespaces
   * @param mappedFiles the paths of the files in its memory, and {@code [uprobes]} where it has
   *     some
   * @param tracer the pid of the process that traces it, 0 for none
   * @param watches the file systems on which it watches files by inotify, as {@code MAJOR:MINOR}
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
      Set<String> watches) {

    public Member {
      files = List.copyOf(files);
      environment = Map.copyOf(environment);
      namespaces = Map.copyOf(namespaces);
      mappedFiles = Set.copyOf(mappedFiles);
      watches = Set.copyOf(watches);
    }

    /** Which process. */
    public ProcessId id() {
      return stat.id();
    }
  }
}
