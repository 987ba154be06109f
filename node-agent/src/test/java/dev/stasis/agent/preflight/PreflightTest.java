package dev.stasis.agent.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcessStat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each property that rules a checkpoint out is named, with what was wanted and what was found. */
class PreflightTest {

  private static final long HOST_USERS = 4026531837L;

  static final Surroundings ALONE =
      new Surroundings(
          Map.of(), List.of(), Set.of(), Set.of(), null, Set.of(), List.of(), Set.of(), Map.of(),
          List.of(), Set.of(), List.of(), Map.of(), null, false);

  private static ProcessStat stat(int pid, int tty) {
    return new ProcessStat(pid, "python", 'S', 1, pid, tty, 0, 0, 1, 100 + pid, 0, 0);
  }

  private static Subject.Member member(
      int pid, boolean cuda, String file, Map<String, String> environment, String mapped) {
    return new Subject.Member(
        stat(pid, 0),
        cuda,
        file.isEmpty() ? List.of() : List.of(new OpenFile(7, file, 2, 0, 1)),
        1024,
        environment,
        Map.of("user", HOST_USERS),
        mapped.isEmpty() ? Set.of() : Set.of(mapped),
        0,
        Set.of(),
        Set.of(),
        List.of(),
        false);
  }

  private static NodeGpus gpus(String driver, boolean mig) {
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
    return new NodeGpus(
        new DriverAvailability.Present("libcuda.so.1", 13000),
        driver,
        13000,
        List.of(gpu),
        List.of());
  }

  private static List<FailedRequirement> unmet(Subject.Member... members) {
    return unmet("580.159.04", false, members);
  }

  private static List<FailedRequirement> unmet(
      String driver, boolean mps, Subject.Member... members) {
    return new Preflight(false)
        .unmet(
            new Subject(List.of(members), gpus(driver, false), Set.of(0), HOST_USERS, mps, ALONE));
  }

  @Test
  void aPlainCudaProcessIsTaken() {
    assertThat(unmet(member(10, true, "/data/log", Map.of(), "/usr/lib/libcudart.so"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/dev/pts/0, terminal",
    "/dev/tty, terminal",
    "/dev/console, terminal",
    "/dev/infiniband/uverbs0, RDMA",
    "/dev/gdrdrv, gdrdrv",
    "/tmp/nvidia-mps/control, MPS",
  })
  void anOpenFileThatCannotComeAlongIsNamed(String file, String property) {
    assertThat(unmet(member(10, true, file, Map.of(), "")))
        .singleElement()
        .satisfies(
            unmet -> {
              assertThat(unmet.property()).isEqualTo(property);
              assertThat(unmet.found()).contains(file).contains("descriptor 7");
            });
  }

  @Test
  void aTreeWithoutCudaIsRefused() {
    assertThat(unmet(member(10, false, "", Map.of(), "")))
        .extracting(FailedRequirement::property)
        .containsExactly("CUDA process");
  }

  @Test
  void aControllingTerminalAndAUserNamespaceAreRefused() {
    Subject.Member odd =
        new Subject.Member(
            stat(10, 34816),
            true,
            List.of(),
            1024,
            Map.of(),
            Map.of("user", 4026532000L),
            Set.of(),
            0,
            Set.of(),
            Set.of(),
            List.of(),
            false);
    assertThat(unmet(odd))
        .extracting(FailedRequirement::property)
        .containsExactly("terminal", "user namespace");
  }

  @ParameterizedTest
  @CsvSource({"60, true", "61, false", "64, false", "200, false"})
  void criuFindsFourDescriptorsFree(int open, boolean enough) {
    List<OpenFile> files =
        IntStream.range(0, open).mapToObj(fd -> new OpenFile(fd, "/data", 2, 0, 1)).toList();
    Subject.Member full =
        new Subject.Member(
            stat(10, 0),
            true,
            files,
            64,
            Map.of(),
            Map.of("user", HOST_USERS),
            Set.of(),
            0,
            Set.of(),
            Set.of(),
            List.of(),
            false);
    assertThat(unmet(full))
        .map(FailedRequirement::toString)
        .isEqualTo(
            enough
                ? List.of()
                : List.of(
                    "open files: expected 4 descriptors free for criu below the limit (ulimit -n),"
                        + " got %d of 64 used by process 10@110 (python)"
                            .formatted(Math.min(open, 64))));
  }

  @ParameterizedTest
  @CsvSource({
    "T, /usr/lib/libcuda.so.580.1, true",
    "T, /usr/lib/libc.so.6, false",
    "S, /usr/lib/libcuda.so.580.1, false"
  })
  void aStoppedProcessThatMayUseCudaIsRefused(char state, String mapped, boolean refused) {
    Subject.Member helper =
        new Subject.Member(
            new ProcessStat(11, "helper", state, 1, 11, 0, 0, 0, 1, 111, 0, 0),
            false,
            List.of(),
            1024,
            Map.of(),
            Map.of("user", HOST_USERS),
            Set.of(mapped),
            0,
            Set.of(),
            Set.of(),
            List.of(),
            false);
    assertThat(unmet(member(10, true, "", Map.of(), ""), helper))
        .extracting(FailedRequirement::found)
        .isEqualTo(
            refused
                ? List.of("process 11@111 (helper) stopped by a signal; kill -CONT resumes it")
                : List.of());
  }

  @Test
  void migIsRefusedForTheGpusOfTheContainerAlone() {
    Subject.Member plain = member(10, true, "", Map.of(), "");
    assertThat(
            new Preflight(false)
                .unmet(
                    new Subject(
                        List.of(plain), gpus("580.1", true), Set.of(0), HOST_USERS, false, ALONE)))
        .extracting(FailedRequirement::property)
        .containsExactly("MIG");
    assertThat(
            new Preflight(false)
                .unmet(
                    new Subject(
                        List.of(plain), gpus("580.1", true), Set.of(3), HOST_USERS, false, ALONE)))
        .isEmpty();
  }

  @Test
  void aClientOfMpsIsRefusedWhereTheServiceRuns() {
    Subject.Member client = member(10, true, "", Map.of("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps"), "");
    assertThat(unmet("580.1", true, client))
        .extracting(FailedRequirement::property)
        .containsExactly("MPS");
    assertThat(unmet("580.1", false, client)).isEmpty();
  }
}
