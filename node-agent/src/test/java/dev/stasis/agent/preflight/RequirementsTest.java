package dev.stasis.agent.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.Contexts.SharedMemory;
import dev.stasis.agent.process.InetSocket;
import dev.stasis.agent.process.IoUring;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.UnixConnection;
import dev.stasis.api.v1beta1.common.Fault;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each requirement is checked, alone, before the freeze, and is in the documentation. */
class RequirementsTest {

  private static final long HOST_USERS = 1;

  private static final Mount ROOT =
      new Mount(1, 1, 0, 29, "/", "/", List.of("rw"), List.of(), "overlay", "overlay", List.of());

  private static final Mount VOLUME = mount("/pods/1/e", "/data", "ext4");

  /** A workload that meets every requirement, and can be changed to violate one. */
  private static final class Workload {
    private char state = 'S';
    private int tty;
    private boolean cuda = true;
    private boolean mig;
    private String file = "/data/log";
    private int flags = 2;
    private long limit = 1024;
    private long users = HOST_USERS;
    private long pids = 2;
    private int tracer;
    private int processes = 1;
    private Set<SharedMemory> memory = Set.of();
    private Map<String, String> environment = Map.of();
    private Set<String> mapped = Set.of("/usr/lib/libcuda.so.1");
    private Set<String> watches = Set.of();
    private Set<Integer> pidfds = Set.of();
    private List<UnixConnection> connected = List.of();
    private List<IoUring> rings = List.of();
    private Set<Long> unread = Set.of();
    private List<String> ipcObjects = List.of();
    private Map<Long, String> protocols = Map.of();
    private List<InetSocket> sockets = List.of();
    private Set<String> fileVolumes = Set.of();
    private @Nullable String label;
    private final List<Mount> mounts = new ArrayList<>(List.of(ROOT, VOLUME));

    Subject subject() {
      List<Subject.Member> members = new ArrayList<>();
      for (int pid = 10; pid < 10 + processes; pid++) {
        members.add(
            new Subject.Member(
                new ProcessStat(pid, "python", state, 1, pid, tty, 0, 0, 1, 7, 0, 0),
                cuda,
                List.of(new OpenFile(7, file, flags, 0, 1)),
                limit,
                environment,
                Map.of("user", users, "pid", pids),
                mapped,
                tracer,
                watches,
                pidfds,
                rings,
                false));
      }
      Gpu gpu =
          new Gpu(
              0,
              GpuUuid.parse("GPU-4c6a3351-dd7f-f75e-1b8f-99541aac5da2"),
              "NVIDIA H200",
              150L << 30,
              150L << 30,
              "00000000:10:00.0",
              "9.0",
              mig,
              true);
      return new Subject(
          members,
          new NodeGpus(
              new DriverAvailability.Present("libcuda.so.1", 13000),
              "580.1",
              13000,
              List.of(gpu),
              List.of()),
          Set.of(0),
          HOST_USERS,
          false,
          new Surroundings(
              Map.of("pid", 2L),
              mounts,
              Set.of("/data", "/side"),
              fileVolumes,
              Map.of("/data", "", "/cache/", "", "/side", "in/side"),
              Set.of("/run/secrets"),
              sockets,
              Set.of(),
              protocols,
              connected,
              unread,
              ipcObjects,
              Map.of("0:29:6", "/found"),
              label,
              false),
          new Contexts(
              members.stream().map(member -> new Contexts.Holder(member, memory)).toList(),
              Map.of()),
          Map.of());
    }

    Workload share() {
      processes = 2;
      memory = Set.of(new SharedMemory("00:1a", 5, "/dev/shm/some", true));
      return this;
    }

    Workload opens(String target) {
      file = target;
      return this;
    }

    Workload opens(long inode, String protocol) {
      protocols = Map.of(inode, protocol);
      return opens("socket:[" + inode + "]");
    }
  }

  private static Mount mount(String root, String at, String type) {
    return new Mount(1, 1, 8, 1, root, at, List.of("rw"), List.of(), type, "/dev/sda", List.of());
  }

  /** One that violates this requirement and no other. */
  private static Workload violating(Requirement requirement) throws IOException {
    Workload workload = new Workload();
    switch (requirement) {
      case CUDA_PROCESS -> workload.cuda = false;
      case TERMINAL -> workload.tty = 34816;
      case USER_NAMESPACE -> workload.users = 99;
      case NESTED_NAMESPACE -> workload.pids = 99;
      case TRACER -> workload.tracer = 4711;
      case STOPPED -> workload.state = 'T';
      case UPROBES -> workload.mapped = Set.of("[uprobes]");
      case DESCRIPTORS -> workload.limit = 3;
      case IO_URING -> workload.rings = List.of(new IoUring(7, 9, 64, 5, true, false));
      case PERF_EVENT -> workload.opens("anon_inode:[perf_event]");
      case BPF -> workload.opens("anon_inode:bpf-map");
      case SECCOMP_NOTIFY -> workload.opens("anon_inode:seccomp notify");
      case SECRET_MEMORY -> workload.opens("/secretmem (deleted)");
      case SYSTEM_V -> workload.mapped = Set.of("/SYSV00001234 (deleted)");
      case MESSAGE_QUEUE -> workload.mounts.add(mount("/", "/dev/mqueue", "mqueue"));
      case PACKET_PIPE -> workload.opens("pipe:[5]").flags = 040001;
      case INOTIFY -> workload.watches = Set.of("0:29:7", "0:29:6");
      case FANOTIFY -> workload.opens("anon_inode:[fanotify]");
      case PIDFD -> workload.pidfds = Set.of(10, 4711);
      case UNIX_PEER ->
          workload.opens(5, "UNIX-STREAM").connected = List.of(new UnixConnection(5, 6, 1, true));
      case UNIX_DATAGRAM ->
          workload.opens(5, "UNIX").connected = List.of(new UnixConnection(5, 6, 2, true));
      case DEVICE -> workload.opens("/dev/fuse");
      case RDMA -> workload.opens("/dev/infiniband/uverbs0");
      case GDRDRV -> workload.opens("/dev/gdrdrv");
      case MPS -> workload.opens("/tmp/nvidia-mps/control");
      case MIG -> workload.mig = true;
      case SHARING -> workload.share();
      case NCCL -> workload.share().mapped = Set.of("/usr/lib/libnccl.so.2");
      case NVLS -> {
        workload.share().mapped = Set.of("/usr/lib/libnccl.so.2");
        workload.environment = Map.of("NCCL_P2P_DISABLE", "1", "NCCL_SHM_DISABLE", "1");
      }
      case MPTCP -> workload.opens(5, "MPTCPv6");
      case SOCKET -> workload.opens(5, "AF_VSOCK");
      case NETLINK -> workload.opens(5, "NETLINK").unread = Set.of(5L);
      case IPC_OBJECTS -> workload.ipcObjects = List.of("semaphore set 7");
      case LINUX_AIO -> workload.mapped = Set.of("/[aio] (deleted)");
      case MOUNT_KIND -> workload.mounts.add(mount("/", "/mnt", "autofs"));
      case SOCKET_ADDRESS -> {
        InetAddress own = InetAddress.getByName("10.1.2.3");
        InetAddress any = InetAddress.getByName("0.0.0.0");
        workload.opens(5, "TCP").sockets =
            List.of(new InetSocket("tcp", own, 29500, any, 0, 10, 5));
      }
      case DISTRIBUTED_JOB -> {
        workload.opens(5, "TCP").sockets = List.of(connection("10.1.2.3", 4000, "10.1.2.9", 29500));
        workload.environment = Map.of("WORLD_SIZE", "2", "LOCAL_WORLD_SIZE", "1");
      }
      case SECURITY_LABEL -> workload.label = "cri-containerd.apparmor.d (enforce)";
      case FOREIGN_MOUNT -> workload.mounts.add(mount("/", "/made/inside", "fuse.sshfs"));
      case RUNTIME_MOUNT -> workload.mounts.add(mount("/site", "/opt/site", "ext4"));
      case MOVED_FOLDER -> workload.mounts.add(mount("/pods/1/e/in/moved", "/side", "ext4"));
      case FILE_OF_VOLUME -> workload.fileVolumes = Set.of("/data");
      case USERFAULTFD, LANDLOCK -> throw new IllegalArgumentException("those of helpers alone");
    }
    return workload;
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"USERFAULTFD", "LANDLOCK"})
  void eachIsFoundAlone(Requirement requirement) throws Exception {
    assertThat(new Preflight(false).unmet(new Workload().subject())).isEmpty();
    assertThat(new Preflight(false).unmet(violating(requirement).subject()))
        .isNotEmpty()
        .allSatisfy(
            unmet -> {
              assertThat(unmet.property()).startsWith(requirement.property());
              assertThat(unmet.scope()).isEqualTo(requirement.scope());
              assertThat(unmet.wanted()).isEqualTo(requirement.expected());
            });
  }

  @Test
  void aConnectionToAProcessOutsideIsNamed() throws Exception {
    assertThat(new Preflight(false).unmet(violating(Requirement.PIDFD).subject()))
        .singleElement()
        .satisfies(unmet -> assertThat(unmet.found()).startsWith("one of process 4711"));
    assertThat(new Preflight(false).unmet(violating(Requirement.INOTIFY).subject()))
        .singleElement()
        .satisfies(unmet -> assertThat(unmet.found()).startsWith("a watch on inode 7 "));
  }

  @Test
  void aConnectionWithinTheTreeIsAccepted() {
    Workload workload = new Workload().opens("pipe:[5]");
    workload.flags = 1;
    workload.pidfds = Set.of(10);
    workload.watches = Set.of("0:29:6");
    assertThat(new Preflight(false).unmet(workload.subject())).isEmpty();
  }

  private static Workload withSockets(InetSocket... sockets) {
    Workload workload = new Workload().opens(5, "TCP");
    workload.sockets = List.of(sockets);
    return workload;
  }

  private static InetSocket listener(String address, long inode) throws IOException {
    return new InetSocket(
        "tcp",
        InetAddress.getByName(address),
        29500,
        InetAddress.getByName("0.0.0.0"),
        0,
        10,
        inode);
  }

  private static InetSocket connection(String from, int port, String to, int toPort)
      throws IOException {
    return new InetSocket(
        "tcp", InetAddress.getByName(from), port, InetAddress.getByName(to), toPort, 1, 5);
  }

  /** A target has the same addresses of these kinds; other connections are closed. */
  @Test
  void onlyASocketThatIsBoundToTheAddressOfThisPodNeedsThatAddress() throws Exception {
    Workload taken =
        withSockets(
            listener("0.0.0.0", 5),
            listener("127.0.0.1", 5),
            listener("10.1.2.3", 99),
            connection("10.1.2.3", 4000, "10.1.2.9", 80));
    assertThat(new Preflight(false).unmet(taken.subject())).isEmpty();

    Workload withItself =
        withSockets(
            connection("10.1.2.3", 4000, "10.1.2.3", 80),
            connection("10.1.2.3", 80, "10.1.2.3", 4000));
    assertThat(new Preflight(false).unmet(withItself.subject()))
        .singleElement()
        .satisfies(
            unmet ->
                assertThat(unmet.found())
                    .startsWith("a connection with itself from 10.1.2.3:4000 to 10.1.2.3:80 of"));
  }

  @Test
  void aJobWithAllItsRanksInThePodMayHaveConnectionsToOtherHosts() throws Exception {
    for (Map<String, String> environment :
        List.of(
            Map.of("WORLD_SIZE", "2", "LOCAL_WORLD_SIZE", "2"),
            Map.of("WORLD_SIZE", "1"),
            Map.of("WORLD_SIZE", "none"),
            Map.<String, String>of())) {
      Workload workload = withSockets(connection("10.1.2.3", 4000, "10.1.2.9", 443));
      workload.environment = environment;
      assertThat(new Preflight(false).unmet(workload.subject())).isEmpty();
    }
  }

  @Test
  void ranksInOtherPodsAreFoundWithoutTorchrunToo() throws Exception {
    for (Map<String, String> environment :
        List.of(
            Map.of("WORLD_SIZE", "2", "RANK", "1"),
            Map.of("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_SIZE", "2"))) {
      Workload workload = withSockets(connection("10.1.2.3", 4000, "10.1.2.9", 29500));
      workload.environment = environment;
      assertThat(new Preflight(false).unmet(workload.subject()))
          .singleElement()
          .satisfies(unmet -> assertThat(unmet.property()).isEqualTo("distributed job"));
    }
  }

  @Test
  void theApiCallsASocketsAddressTheSame() {
    assertThat(Requirement.SOCKET_ADDRESS.property()).isEqualTo(Fault.SOCKET_ADDRESS);
  }

  @ParameterizedTest
  @EnumSource
  void eachHasItsRowInTheDocumentation(Requirement requirement) throws Exception {
    assertThat(Files.readAllLines(Path.of("../docs/compatibility.md")))
        .contains(
            "| %s | %s | %s |"
                .formatted(
                    requirement.property(),
                    requirement.scope() == Scope.NEW_POD ? "another pod" : "every checkpoint",
                    requirement.expected()));
  }
}
