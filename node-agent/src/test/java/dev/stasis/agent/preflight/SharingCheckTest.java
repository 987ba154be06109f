package dev.stasis.agent.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.Contexts.Holder;
import dev.stasis.agent.preflight.Contexts.SharedMemory;
import dev.stasis.agent.process.InetSocket;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcessStat;
import java.io.IOException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes with a CUDA context are refused when they share GPU memory, or may. */
class SharingCheckTest {

  private static final int READS = 0;
  private static final int WRITES = 1;
  private static final String NCCL = "/usr/lib/libnccl.so.2";

  private static Holder holder(
      int pid,
      String mapped,
      Map<String, String> environment,
      Set<SharedMemory> memory,
      OpenFile... files) {
    return holder(pid, Set.of(mapped), environment, memory, files);
  }

  private static Holder holder(
      int pid,
      Set<String> mapped,
      Map<String, String> environment,
      Set<SharedMemory> memory,
      OpenFile... files) {
    return new Holder(
        new Subject.Member(
            new ProcessStat(pid, "python", 'S', 1, pid, 0, 0, 0, 1, 100 + pid, 0, 0),
            true,
            List.of(files),
            1024,
            environment,
            Map.of(),
            mapped,
            0,
            Set.of(),
            Set.of(),
            List.of(),
            false),
        memory);
  }

  private static Holder with(int pid, OpenFile... files) {
    return holder(pid, NCCL, Map.of(), Set.of(), files);
  }

  private static Holder with(int pid, SharedMemory... memory) {
    return holder(pid, "/usr/lib/a", Map.of(), Set.of(memory));
  }

  private static OpenFile open(String target, int flags) {
    return new OpenFile(7, target, flags, 0, 1);
  }

  private static SharedMemory memory(long inode, String path, boolean writable) {
    return new SharedMemory("00:1a", inode, path, writable);
  }

  private static List<FailedRequirement> unmet(
      boolean stated, List<InetSocket> sockets, Map<Long, Long> peers, Holder... holders) {
    Surroundings around =
        new Surroundings(
            Map.of(), List.of(), Set.of(), Set.of(), null, Set.of(), sockets, Set.of(), Map.of(),
            List.of(), Set.of(), List.of(), Map.of(), null, false);
    return Preflight.locked(stated)
        .unmet(
            new Subject(
                List.of(),
                NodeGpus.none(new DriverAvailability.NoDevice("none")),
                Set.of(),
                0,
                false,
                around,
                new Contexts(List.of(holders), peers),
                Map.of()));
  }

  private static List<FailedRequirement> unmet(Holder... holders) {
    return unmet(false, List.of(), Map.of(), holders);
  }

  @Test
  void twoIndependentProcessesAreTaken() {
    // As a shell starts them: one output, files of their own, and read-only files of all.
    OpenFile output = open("pipe:[1]", WRITES);
    SharedMemory cache = memory(9, "/usr/lib/gconv/gconv-modules.cache", false);
    Holder one = holder(10, NCCL, Map.of(), Set.of(cache, memory(1, "/dev/zero", true)), output);
    Holder two = holder(11, NCCL, Map.of(), Set.of(cache, memory(2, "/dev/zero", true)), output);
    assertThat(unmet(one, two)).isEmpty();
  }

  @Test
  void twoNotebooksOfOneServerAreTaken() throws Exception {
    // Each is connected to the server, and to itself.
    Map<Long, Long> peers = Map.of(1L, 901L, 2L, 902L, 3L, 4L, 4L, 3L);
    assertThat(
            unmet(
                false,
                List.of(tcp(5000, 6000, 5), tcp(5001, 6000, 6)),
                peers,
                with(10, open("socket:[1]", 2), open("socket:[3]", 2), open("socket:[4]", 2)),
                with(11, open("socket:[2]", 2), open("socket:[6]", 2))))
        .isEmpty();
  }

  @Test
  void aPipeFromOneToTheOtherIsFound() {
    assertThat(unmet(with(10, open("pipe:[1]", READS)), with(11, open("pipe:[1]", WRITES))))
        .singleElement()
        .satisfies(one -> assertThat(one.found()).contains("pipe:[1]", "10", "11", "python"));
  }

  @Test
  void aUnixSocketBetweenThemIsFound() {
    Holder one = with(10, open("socket:[1]", 2));
    Holder two = with(11, open("socket:[2]", 2));
    assertThat(unmet(false, List.of(), Map.of(1L, 2L, 2L, 1L), one, two)).hasSize(1);
  }

  @Test
  void aConnectionBetweenThemIsFound() throws Exception {
    Holder one = with(10, open("socket:[5]", 2));
    Holder two = with(11, open("socket:[6]", 2));
    assertThat(unmet(false, List.of(tcp(5000, 6000, 5), tcp(6000, 5000, 6)), Map.of(), one, two))
        .singleElement()
        .satisfies(found -> assertThat(found.property()).isEqualTo("NCCL peer-to-peer"));
  }

  /** Each of them is a client of a third process, which has no GPU memory. */
  @Test
  void connectionsToAnotherProcessJoinNothing() throws Exception {
    List<InetSocket> sockets =
        List.of(tcp(5000, 6000, 5), tcp(6000, 5000, 905), tcp(5001, 6000, 6), tcp(6000, 5001, 906));
    Holder one = with(10, open("socket:[5]", 2));
    Holder two = with(11, open("socket:[6]", 2));
    assertThat(unmet(false, sockets, Map.of(), one, two)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/usr/lib/libnvshmem_host.so.3", "/usr/lib/libuct_cuda.so", "/vllm/_C.so"})
  void theSettingsOfNcclSayNothingOfALibraryThatSharesByItself(String library) {
    Map<String, String> apart =
        Map.of("NCCL_P2P_DISABLE", "1", "NCCL_CUMEM_HOST_ENABLE", "0", "NCCL_NVLS_ENABLE", "0");
    Set<SharedMemory> segment = Set.of(memory(5, "/dev/shm/nccl-X1", true));
    Holder plain = holder(10, NCCL, apart, segment);
    Holder sharing = holder(11, Set.of(NCCL, library), apart, segment);
    assertThat(unmet(plain, holder(11, NCCL, apart, segment))).isEmpty();
    assertThat(unmet(plain, sharing))
        .extracting(FailedRequirement::property)
        .containsExactly("CUDA memory between processes");
  }

  @Test
  void memoryThatOneOfThemCanWriteIntoIsFound() {
    SharedMemory written = memory(5, "/dev/shm/torch_1", true);
    SharedMemory read = memory(5, "/dev/shm/torch_1", false);
    assertThat(unmet(with(10, written), with(11, read)))
        .extracting(FailedRequirement::property)
        .containsExactly("CUDA memory between processes");
    assertThat(unmet(with(10, read), with(11, read))).isEmpty();
    assertThat(unmet(with(10, written), with(11, memory(6, "/dev/shm/torch_1", true)))).isEmpty();
  }

  @Test
  void theUsersWordCountsUnlessTheDriverContradictsIt() {
    SharedMemory queue = memory(5, "/dev/shm/sem.mp-1", true);
    SharedMemory exported = memory(6, "/dev/shm/cuda.shm.0.27c.1", true);
    assertThat(unmet(true, List.of(), Map.of(), with(10, queue), with(11, queue))).isEmpty();
    assertThat(
            unmet(true, List.of(), Map.of(), with(10, queue, exported), with(11, exported, queue)))
        .singleElement()
        .satisfies(one -> assertThat(one.found()).contains("CUDA IPC", "cuda.shm"));
  }

  @ParameterizedTest
  @CsvSource({
    "NCCL_P2P_DISABLE=1, NCCL peer-to-peer",
    "NCCL_CUMEM_HOST_ENABLE=0, NCCL peer-to-peer",
    "NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0, NCCL NVLS",
    "NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0 NCCL_NVLS_ENABLE=1, NCCL NVLS",
    "NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0 NCCL_NVLS_ENABLE=0, ",
    "NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_NVLS_ENABLE=0, ",
  })
  void ranksOfOneCommunicatorNeedSharedDriverMemoryOff(String settings, String property)
      throws IOException {
    Map<String, String> environment = new HashMap<>();
    for (String setting : settings.split(" ")) {
      environment.put(setting.split("=")[0], setting.split("=")[1]);
    }
    Set<SharedMemory> segment = Set.of(memory(5, "/dev/shm/nccl-X1", true));
    List<FailedRequirement> found =
        unmet(holder(10, NCCL, environment, segment), holder(11, NCCL, environment, segment));
    assertThat(found.stream().map(FailedRequirement::property).toList())
        .isEqualTo(property == null ? List.of() : List.of(property));
    // Neither where something else may share it.
    assertThat(
            unmet(
                holder(10, NCCL, environment, segment),
                holder(11, "/usr/lib/libnvshmem_host.so.3", environment, segment)))
        .extracting(FailedRequirement::property)
        .containsExactly("CUDA memory between processes");
  }

  private static InetSocket tcp(int local, int remote, long inode) throws IOException {
    InetAddress loopback = InetAddress.getByName("127.0.0.1");
    return new InetSocket("tcp", loopback, local, loopback, remote, 1, inode);
  }
}
