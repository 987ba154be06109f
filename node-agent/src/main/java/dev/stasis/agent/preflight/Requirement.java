package dev.stasis.agent.preflight;

import static dev.stasis.agent.preflight.Scope.CHECKPOINT;
import static dev.stasis.agent.preflight.Scope.NEW_POD;

import java.util.stream.Stream;

/**
 * The requirements for a running workload, all of them checked before the freeze. The table in
 * docs/compatibility.md has a row for each.
 */
public enum Requirement {
  CUDA_PROCESS(CHECKPOINT, "CUDA process", "at least one process that uses CUDA"),
  TERMINAL(CHECKPOINT, "terminal", "a container without a terminal (tty: false)"),
  USER_NAMESPACE(CHECKPOINT, "user namespace", "the host's (hostUsers: true)"),
  NESTED_NAMESPACE(
      CHECKPOINT, "nested namespace", "every process in the container's own namespaces"),
  TRACER(CHECKPOINT, "traced process", "no process under strace, gdb or another tracer"),
  STOPPED(
      CHECKPOINT,
      "stopped process",
      "every process that may use CUDA must be running: the driver does not answer calls on"
          + " others"),
  UPROBES(
      CHECKPOINT,
      "uprobes",
      "no uprobe in a program of the workload: exclude the pod from the node's eBPF agents"),
  DESCRIPTORS(CHECKPOINT, "open files", "4 descriptors free for criu below the limit (ulimit -n)"),
  IO_URING(
      CHECKPOINT,
      "io_uring",
      "idle rings of 64 entries or more, each with one descriptor, no registrations and fewer"
          + " than 67 million operations so far (retry if one is busy; seccompProfile"
          + " RuntimeDefault in the pod disables io_uring; the label stasis.dev/prepare=true"
          + " sets it in new pods)"),
  PERF_EVENT(CHECKPOINT, "perf event", "no open perf event (perf, a profiler, or its library)"),
  USERFAULTFD(CHECKPOINT, "userfaultfd", "no userfaultfd"),
  BPF(CHECKPOINT, "BPF", "no open BPF map, program or link"),
  LANDLOCK(CHECKPOINT, "landlock", "no open landlock ruleset"),
  SECCOMP_NOTIFY(CHECKPOINT, "seccomp notification", "no open seccomp notification descriptor"),
  SECRET_MEMORY(CHECKPOINT, "secret memory", "no memory of memfd_secret"),
  SYSTEM_V(
      CHECKPOINT,
      "System V shared memory",
      "no attached segment (shmat): use POSIX shared memory or a mapped file"),
  MESSAGE_QUEUE(CHECKPOINT, "POSIX message queue", "no open queue"),
  PACKET_PIPE(CHECKPOINT, "packet pipe", "no pipe in packet mode (O_DIRECT)"),
  INOTIFY(
      CHECKPOINT,
      "inotify",
      "watched files that have a path among the first million of the container's own file system"
          + " (or watch files on a volume)"),
  FANOTIFY(CHECKPOINT, "fanotify", "no open fanotify group"),
  PIDFD(CHECKPOINT, "pidfd", "only pidfds of processes of the container"),
  DEVICE(CHECKPOINT, "device", "no open device except GPUs and /dev/null, zero, full and random"),
  RDMA(CHECKPOINT, "RDMA", "no open InfiniBand or RDMA device"),
  GDRDRV(CHECKPOINT, "gdrdrv", "no open /dev/gdrdrv (GDRCopy)"),
  MPS(CHECKPOINT, "MPS", "a process that is not a client of CUDA's multi-process service"),
  MIG(CHECKPOINT, "MIG", "a whole GPU"),
  SHARING(
      CHECKPOINT,
      "CUDA memory between processes",
      "no shared memory, pipe or socket between two processes that have a CUDA context (sharing:"
          + " None, if they share no GPU memory)"),
  NCCL(
      CHECKPOINT,
      "NCCL peer-to-peer",
      "NCCL_P2P_DISABLE=1, NCCL_CUMEM_HOST_ENABLE=0 and NCCL_NVLS_ENABLE=0 in each of several"
          + " ranks (the label stasis.dev/prepare=ranks sets them)"),
  NVLS(
      CHECKPOINT,
      "NCCL NVLS",
      "NCCL_NVLS_ENABLE=0 in each of several ranks, and in a process that has libnccl and several"
          + " GPUs with NVLink (the label stasis.dev/prepare=ranks sets it)"),
  DISTRIBUTED_JOB(
      CHECKPOINT,
      "distributed job",
      "all ranks of a job in the pod: a checkpoint in place can end ranks in other pods, and a"
          + " restore closes the connections to them (let the framework write its own"
          + " checkpoint)"),
  MPTCP(
      CHECKPOINT,
      "MPTCP socket",
      "TCP (GODEBUG=multipathtcp=0 for Go programs, from Go 1.24 on; the label"
          + " stasis.dev/prepare=true sets it in new pods)"),
  SOCKET(CHECKPOINT, "socket", "only TCP, UDP, ICMP, Unix, netlink and packet sockets"),
  UNIX_PEER(
      CHECKPOINT,
      "Unix connection",
      "connections only between processes of the container: close others before the checkpoint"
          + " (or use TCP, which a restore closes)"),
  FILE_OF_VOLUME(
      CHECKPOINT,
      "file of an emptyDir",
      "folders of emptyDirs: the files of a subPath mount are packed as a folder"),
  MOUNT_KIND(CHECKPOINT, "mount", "a mount that another container can have"),
  NETLINK(CHECKPOINT, "netlink socket", "no messages that the program has not read (retry)"),
  IPC_OBJECTS(
      NEW_POD,
      "System V IPC",
      "no System V semaphores, message queues or segments and no POSIX message queues in the"
          + " pod: a new pod does not have them (use POSIX semaphores, which are in /dev/shm)"),
  LINUX_AIO(
      NEW_POD,
      "Linux AIO",
      "no context of io_setup (libaio): criu does not restore its requests in flight, and the kernel"
          + " completes them while the memory is saved"),
  SOCKET_ADDRESS(
      NEW_POD,
      "socket address",
      "0.0.0.0, ::, the loopback, or an address of a network interface of the pod: no other pod"
          + " has this address (or tcpConnections: Restore, if the target pod has it)"),
  UNIX_DATAGRAM(
      NEW_POD,
      "Unix datagram socket",
      "no socket that is connected to a named socket of a process outside the container: another"
          + " pod may not have it"),
  SECURITY_LABEL(
      NEW_POD,
      "security label",
      "the same AppArmor profile for all threads, with an agent that has none; or the SELinux"
          + " label of the agent, because a restore cannot apply a different one"),
  FOREIGN_MOUNT(
      NEW_POD,
      "mount made inside",
      "file systems that are volumes of the pod: another pod does not have the workload's own"
          + " mounts"),
  RUNTIME_MOUNT(
      NEW_POD,
      "mount of the runtime",
      "only mounts of the pod or of the GPU driver, or ones that the agent's own container has"
          + " too: the container runtime of another node may not make others"),
  MOVED_FOLDER(
      NEW_POD,
      "folder of a subPath",
      "the folder at the subPath of its mount: a new pod mounts the folder with that name, not the"
          + " one that the workload has renamed");

  private final Scope scope;
  private final String property;
  private final String expected;

  Requirement(Scope scope, String property, String expected) {
    this.scope = scope;
    this.property = property;
    this.expected = expected;
  }

  /** What is prevented if it is not met. */
  public Scope scope() {
    return scope;
  }

  /** Its name in the API. */
  public String property() {
    return property;
  }

  /** The expected state, and how to achieve it. */
  public String expected() {
    return expected;
  }

  /**
   * Returns whether a running program may meet this requirement a moment later: an operation ends,
   * a message is read, and a child that has just been forked closes what its parent has from the
   * driver.
   */
  public static boolean mayPass(FailedRequirement one) {
    return Stream.of(IO_URING, NETLINK, USERFAULTFD, LANDLOCK)
        .anyMatch(kind -> one.property().equals(kind.property));
  }

  FailedRequirement found(String actual) {
    return new FailedRequirement(property, expected, actual, scope);
  }

  /** Returns the failed requirement, with its location. */
  FailedRequirement foundAt(String where, String actual) {
    return new FailedRequirement(property + " " + where, expected, actual, scope);
  }
}
