package dev.stasis.agent.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.IoUring;
import dev.stasis.agent.process.ProcessStat;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Rings as libuv has them are taken, others refused with the reason. */
class IoUringCheckTest {

  private static final IoUring IDLE = new IoUring(4, 100, 256, 1000, false, false);

  private static Subject.Member member(
      int pid, Set<String> mapped, boolean addressLimit, IoUring... rings) {
    return new Subject.Member(
        new ProcessStat(pid, "python", 'S', 1, pid, 0, 0, 0, 1, 7, 0, 0),
        true,
        List.of(),
        1024,
        Map.of(),
        Map.of(),
        mapped,
        0,
        Set.of(),
        Set.of(),
        List.of(rings),
        addressLimit);
  }

  private static List<String> found(Subject.Member... members) {
    NodeGpus gpus =
        new NodeGpus(
            new DriverAvailability.Present("libcuda.so.1", 13000),
            "580.1",
            13000,
            List.of(),
            List.of());
    return new IoUringCheck()
            .unmet(
                new Subject(Arrays.asList(members), gpus, Set.of(), 1, false, PreflightTest.ALONE))
            .stream()
            .map(FailedRequirement::found)
            .toList();
  }

  private static List<String> found(IoUring ring) {
    return found(member(10, Set.of(IoUring.TARGET), false, ring));
  }

  @Test
  void idleRingsOfSeveralProcessesAreTaken() {
    assertThat(
            found(
                member(10, Set.of(IoUring.TARGET), false, IDLE),
                member(11, Set.of(), false, new IoUring(4, 101, 64, 1 << 26, false, false))))
        .isEmpty();
  }

  @Test
  void eachObstacleIsNamedWithItsDescriptor() {
    assertThat(found(new IoUring(4, 100, 256, 9, true, false)))
        .containsExactly("operations in flight, descriptor 4, of process 10@7 (python)");
    assertThat(found(new IoUring(4, 100, 256, 9, false, true)))
        .singleElement()
        .asString()
        .startsWith("registered files, buffers");
    assertThat(found(new IoUring(4, 100, 32, 9, false, false)))
        .singleElement()
        .asString()
        .startsWith("a ring of 32 entries");
    assertThat(found(new IoUring(4, 100, 256, (1 << 26) + 1, false, false)))
        .singleElement()
        .asString()
        .startsWith("67108865 operations so far");
  }

  @Test
  void aRingThatAForkedProcessHasTooIsRefused() {
    assertThat(found(member(10, Set.of(), false, IDLE), member(11, Set.of(), false, IDLE)))
        .hasSize(2)
        .allSatisfy(found -> assertThat(found).startsWith("a ring with 2 descriptors"));
  }

  @Test
  void aMappingWithoutItsRingAndALimitOfTheAddressSpaceAreRefused() {
    assertThat(found(member(10, Set.of(IoUring.TARGET), false)))
        .containsExactly("mapped without a descriptor, of process 10@7 (python)");
    assertThat(found(member(10, Set.of(), true, IDLE)))
        .containsExactly("with a limit of the address space (ulimit -v), of process 10@7 (python)");
    assertThat(found(member(10, Set.of(), true))).isEmpty();
  }
}
