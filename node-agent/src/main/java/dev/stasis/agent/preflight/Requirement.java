package dev.stasis.agent.preflight;

import static dev.stasis.agent.preflight.Scope.CHECKPOINT;
import static dev.stasis.agent.preflight.Scope.NEW_POD;

/**
 * Every requirement that a running workload has to meet, all of them checked before anything is
 * frozen. The table in docs/compatibility.md has a row for each.
 */
public enum Requirement {
  CUDA_PROCESS(CHECKPOINT, "CUDA process", "at least one process that uses CUDA"),
  TERMINAL(CHECKPOINT, "terminal", "a container without a terminal (tty: false)"),
  USER_NAMESPACE(CHECKPOINT, "user namespace", "the host's (hostUsers: true)"),
  NESTED_NAMESPACE(
      CHECKPOINT,
      "nested namespace",
      "every process in the container's PID, IPC and UTS namespace"),
  TRACER(CHECKPOINT, "traced process", "no process under strace, gdb or another tracer"),
  STOPPED(
      CHECKPOINT,
      "stopped process",
      "every process that may use CUDA running: the driver answers no call on another"),
  UPROBES(
      CHECKPOINT,
      "uprobes",
      "no uprobe in a program of the workload: exclude the pod from the node's eBPF agents"),
  DESCRIPTORS(CHECKPOINT, "open files", "4 descriptors free for criu below the limit (ulimit -n)"),
  IO_URING(
      CHECKPOINT,
      "io_uring",
      "no io_uring: criu cannot dump one (seccompProfile RuntimeDefault in the pod, or"
          + " UV_USE_IO_URING=0 for libuv, turns it off)"),
  PERF_EVENT(CHECKPOINT, "perf event", "no open perf event (perf, a profiler, or its library)"),
  USERFAULTFD(CHECKPOINT, "userfaultfd", "no userfaultfd"),
  BPF(CHECKPOINT, "BPF", "no open BPF map, program or link"),
  LANDLOCK(CHECKPOINT, "landlock", "no open landlock ruleset"),
  SECCOMP_NOTIFY(CHECKPOINT, "seccomp notification", "no open seccomp notification descriptor"),
  INOTIFY(
      CHECKPOINT,
      "inotify on the writable layer",
      "no watch on a file of the container's own file system (turn a reload watcher off, or watch"
          + " files on a volume)"),
  DEVICE(CHECKPOINT, "device", "no open device but GPUs and /dev/null, zero, full and random"),
  RDMA(CHECKPOINT, "RDMA", "no open InfiniBand or RDMA device"),
  GDRDRV(CHECKPOINT, "gdrdrv", "no open /dev/gdrdrv (GDRCopy)"),
  MPS(CHECKPOINT, "MPS", "a process that is no client of CUDA's multi-process service"),
  MIG(CHECKPOINT, "MIG", "a whole GPU"),
  NCCL(
      CHECKPOINT,
      "NCCL peer-to-peer",
      "NCCL_P2P_DISABLE=1 and NCCL_CUMEM_HOST_ENABLE=0 in each of several processes"),
  MPTCP(
      CHECKPOINT, "MPTCP socket", "TCP (GODEBUG=multipathtcp=0 for Go programs, from Go 1.24 on)"),
  SOCKET(CHECKPOINT, "socket", "sockets of TCP, UDP, ICMP, Unix, netlink and packets only"),
  MOUNT_KIND(CHECKPOINT, "mount", "a mount that another container can have too"),
  SOCKET_ADDRESS(
      NEW_POD,
      "socket address",
      "0.0.0.0, ::, the loopback, or an address of a network interface of the pod: no other pod has"
          + " this one (or tcp: Keep, where the target pod has it)"),
  SECURITY_LABEL(
      NEW_POD,
      "security label",
      "no AppArmor profile or SELinux label but the agent's: a restore cannot apply another one"
          + " (appArmorProfile Unconfined in the pod, or agent.restoreWithoutAppArmor in the chart)"),
  FOREIGN_MOUNT(
      NEW_POD,
      "mount made inside",
      "file systems that are volumes of the pod: no other pod has what the workload itself mounted"),
  OVERLAPPING_MOUNTS(
      NEW_POD,
      "overlapping mounts",
      "each folder of a volume mounted once: a subPath beside the whole volume needs a volume of its"
          + " own");

  private final Scope scope;
  private final String property;
  private final String expected;

  Requirement(Scope scope, String property, String expected) {
    this.scope = scope;
    this.property = property;
    this.expected = expected;
  }

  /** What it rules out when it is not met. */
  public Scope scope() {
    return scope;
  }

  /** Its name in the API. */
  public String property() {
    return property;
  }

  /** What has to be so, and how to get there. */
  public String expected() {
    return expected;
  }

  /** Says that it is not met. */
  Unmet found(String actual) {
    return new Unmet(property, expected, actual, scope);
  }

  /** Says that it is not met, and where. */
  Unmet foundAt(String where, String actual) {
    return new Unmet(property + " " + where, expected, actual, scope);
  }
}
