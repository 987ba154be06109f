package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.stasis.agent.preflight.Requirement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;

/** Which test proves each requirement. A new one without a test fails here. */
class ProvenRequirementsTest {

  /** What the helper opens, and the requirement that this violates. */
  private static final List<Arguments> AT_THE_FREEZE =
      List.of(
          arguments("io_uring small", Requirement.IO_URING),
          arguments("io_uring busy", Requirement.IO_URING),
          arguments("io_uring buffers", Requirement.IO_URING),
          arguments("perf", Requirement.PERF_EVENT),
          arguments("userfaultfd", Requirement.USERFAULTFD),
          arguments("bpf", Requirement.BPF),
          arguments("landlock", Requirement.LANDLOCK),
          arguments("secretmem", Requirement.SECRET_MEMORY),
          arguments("system-v", Requirement.SYSTEM_V),
          arguments("ipc queue", Requirement.MESSAGE_QUEUE),
          arguments("ipc packet-pipe", Requirement.PACKET_PIPE),
          arguments("ipc netlink", Requirement.NETLINK),
          arguments("inotify-hidden", Requirement.INOTIFY),
          arguments("fanotify", Requirement.FANOTIFY),
          arguments("tty", Requirement.TERMINAL),
          arguments("device /dev/fuse 10 229", Requirement.DEVICE),
          arguments("device /dev/gdrdrv 1 3", Requirement.GDRDRV),
          arguments("socket 2 1 262", Requirement.MPTCP),
          arguments("socket 10 1 262", Requirement.MPTCP),
          arguments("socket 2 1 132", Requirement.SOCKET),
          arguments("socket 40 1 0", Requirement.SOCKET),
          arguments("socket 38 5 0", Requirement.SOCKET),
          arguments("socket 44 3 0", Requirement.SOCKET),
          arguments("namespace ipc", Requirement.NESTED_NAMESPACE),
          arguments("namespace uts", Requirement.NESTED_NAMESPACE),
          arguments("namespace net", Requirement.NESTED_NAMESPACE),
          arguments("namespace mnt", Requirement.NESTED_NAMESPACE),
          arguments("namespace cgroup", Requirement.NESTED_NAMESPACE),
          arguments("trace", Requirement.TRACER));

  /** Those that other tests on real processes violate. */
  private static final Set<Requirement> ELSEWHERE =
      EnumSet.of(
          // PortabilityTest
          Requirement.SOCKET_ADDRESS,
          Requirement.UNIX_PEER,
          Requirement.IPC_OBJECTS,
          Requirement.FOREIGN_MOUNT,
          // OverlappingVolumesTest, RuntimeMountTest, RefusedWorkloadTest
          Requirement.FILE_OF_VOLUME,
          Requirement.MOVED_FOLDER,
          Requirement.RUNTIME_MOUNT,
          Requirement.CUDA_PROCESS,
          Requirement.DISTRIBUTED_JOB,
          Requirement.NCCL,
          Requirement.NVLS,
          Requirement.SHARING,
          Requirement.STOPPED);

  /** Those that only RequirementsTest violates: a test container cannot. */
  private static final Set<Requirement> NOT_ON_THIS_MACHINE =
      EnumSet.of(
          Requirement.USER_NAMESPACE,
          Requirement.UPROBES,
          Requirement.DESCRIPTORS,
          Requirement.SECCOMP_NOTIFY,
          Requirement.PIDFD,
          Requirement.RDMA,
          Requirement.MPS,
          Requirement.MIG,
          Requirement.MOUNT_KIND,
          Requirement.SECURITY_LABEL,
          Requirement.LINUX_AIO,
          Requirement.UNIX_DATAGRAM);

  /** Only the driver sees it: RefusedWorkloadTest proves that it is rolled back. */
  private static final String FOUND_ONCE_LOCKED = "CUDA managed memory";

  /** What a restore in another pod would leave out without an error. */
  static List<String> leftOutElsewhere() {
    return List.of("object sem", "object msg", "object shm", "ipc-closed queue");
  }

  static List<Arguments> atTheFreeze() {
    return AT_THE_FREEZE;
  }

  @ParameterizedTest
  @EnumSource
  void eachRequirementIsProvenOnRealProcessesOrNamedHere(Requirement requirement) {
    boolean here = AT_THE_FREEZE.stream().anyMatch(one -> one.get()[1] == requirement);
    assertThat(
            Stream.of(
                    here,
                    ELSEWHERE.contains(requirement),
                    NOT_ON_THIS_MACHINE.contains(requirement))
                .filter(proven -> proven))
        .hasSize(1);
  }

  /** What no check before the freeze can see. A cause that is found here belongs into the docs. */
  @Test
  void theDocumentationNamesTheOnlyCauseThatIsFoundOnceLocked() throws Exception {
    List<String> lines = Files.readAllLines(Path.of("../docs/compatibility.md"));
    assertThat(
            lines.subList(
                lines.indexOf("## Found once locked"),
                lines.indexOf("## Long kernels of resumed workloads")))
        .filteredOn(line -> line.startsWith("| ") && !line.startsWith("| cause"))
        .extracting(line -> line.split("[|]")[1].trim())
        .containsExactly(FOUND_ONCE_LOCKED);
  }
}
