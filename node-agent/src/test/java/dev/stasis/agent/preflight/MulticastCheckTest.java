package dev.stasis.agent.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.GpuLink.Relation;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MulticastCheckTest {

  private static final Set<String> NCCL = Set.of("/opt/torch/lib/libnccl.so.2");
  private static final Map<String, String> NOTHING_SET = Map.of();

  private static final Surroundings AROUND =
      new Surroundings(
          Map.of(), List.of(), Set.of(), Set.of(), null, Set.of(), List.of(), Set.of(), Map.of(),
          List.of(), Set.of(), List.of(), Map.of(), null, false);

  private static List<FailedRequirement> unmet(
      Relation relation,
      Set<Integer> gpuFiles,
      Set<String> libraries,
      Map<String, String> environment,
      String... files) {
    return unmet(relation, gpuFiles, libraries, environment, Map.of(), files);
  }

  private static List<FailedRequirement> unmet(
      Relation relation,
      Set<Integer> gpuFiles,
      Set<String> libraries,
      Map<String, String> environment,
      Map<ProcessId, Set<GpuUuid>> memoryOn,
      String... files) {
    List<OpenFile> open = new ArrayList<>();
    for (String file : files) {
      open.add(new OpenFile(3 + open.size(), file, 2, 0, 1));
    }
    Subject.Member member =
        new Subject.Member(
            new ProcessStat(10, "python", 'S', 1, 10, 0, 0, 0, 1, 7, 0, 0),
            true,
            open,
            1024,
            environment,
            Map.of(),
            libraries,
            0,
            Set.of(),
            Set.of(),
            List.of(),
            false);
    NodeGpus gpus =
        new NodeGpus(
            new DriverAvailability.Present("libcuda.so.1", 13000),
            "580.1",
            13000,
            List.of(),
            List.of(new GpuLink(0, 1, relation)));
    return new MulticastCheck()
        .unmet(
            new Subject(
                List.of(member), gpus, gpuFiles, 1, false, AROUND, Contexts.none(), memoryOn));
  }

  private static final String[] BOTH = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1"};

  @Test
  void oneProcessWithNcclAndTwoLinkedGpusIsRefused() {
    assertThat(unmet(Relation.NVLINK, Set.of(0, 1), NCCL, NOTHING_SET, BOTH))
        .extracting(FailedRequirement::toString)
        .singleElement()
        .asString()
        .contains("NCCL_NVLS_ENABLE=0", "process 10@7 (python) with libnccl and 2 GPUs");
  }

  @Test
  void theSettingOfNcclIsTheWayOut() {
    assertThat(unmet(Relation.NVLINK, Set.of(0, 1), NCCL, Map.of("NCCL_NVLS_ENABLE", "0"), BOTH))
        .isEmpty();
    assertThat(unmet(Relation.NVLINK, Set.of(0, 1), NCCL, Map.of("NCCL_NVLS_ENABLE", "1"), BOTH))
        .hasSize(1);
  }

  @Test
  void withoutNcclOrASecondGpuOrALinkThereIsNoMulticast() {
    assertThat(unmet(Relation.NVLINK, Set.of(0, 1), Set.of(), NOTHING_SET, BOTH)).isEmpty();
    assertThat(
            unmet(
                Relation.NVLINK, Set.of(0, 1), NCCL, NOTHING_SET, "/dev/nvidiactl", "/dev/nvidia1"))
        .isEmpty();
    assertThat(unmet(Relation.HOST_BRIDGE, Set.of(0, 1), NCCL, NOTHING_SET, BOTH)).isEmpty();
  }

  /** As two programs with a GPU each in one container: the driver opens the files of both. */
  @Test
  void onlyTheGpusOnWhichTheProcessHasMemoryCount() {
    ProcessId process = new ProcessId(10, 7);
    GpuUuid one = GpuUuid.parse("GPU-00000000-0000-0000-0000-000000000001");
    GpuUuid other = GpuUuid.parse("GPU-00000000-0000-0000-0000-000000000002");
    assertThat(
            unmet(
                Relation.NVLINK,
                Set.of(0, 1),
                NCCL,
                NOTHING_SET,
                Map.of(process, Set.of(other)),
                BOTH))
        .isEmpty();
    assertThat(
            unmet(
                Relation.NVLINK,
                Set.of(0, 1),
                NCCL,
                NOTHING_SET,
                Map.of(process, Set.of(one, other)),
                BOTH))
        .hasSize(1);
  }

  @Test
  void gpusThatTheContainerDoesNotSeeDoNotCount() {
    assertThat(unmet(Relation.NVLINK, Set.of(1, 2), NCCL, NOTHING_SET, BOTH)).isEmpty();
    assertThat(unmet(Relation.NVLINK, Set.of(), NCCL, NOTHING_SET, BOTH)).hasSize(1);
  }
}
