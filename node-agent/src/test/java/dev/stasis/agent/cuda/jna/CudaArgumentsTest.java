package dev.stasis.agent.cuda.jna;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import java.util.List;
import org.junit.jupiter.api.Test;

class CudaArgumentsTest {

  private static final GpuUuid OLD = new GpuUuid("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  private static final GpuUuid NEW = new GpuUuid("GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");

  @Test
  void defaultsAreSixtyFourZeros() {
    int result =
        CudaArguments.none(
            arguments -> {
              assertThat(bytes(arguments)).hasSize(64).containsOnly(0);
              return 401;
            });

    assertThat(result).isEqualTo(401);
  }

  @Test
  void theTimeoutStandsFirst() {
    CudaArguments.timeout(
        30_000,
        arguments -> {
          assertThat(arguments.getInt(0)).isEqualTo(30_000);
          byte[] rest = arguments.getByteArray(4, 60);
          assertThat(rest).containsOnly(0);
          return 0;
        });
  }

  @Test
  void pairsAreOldAndNewUuidOneBehindTheOther() {
    CudaArguments.pairs(
        List.of(new GpuPair(OLD, NEW), new GpuPair(NEW, OLD)),
        arguments -> {
          Pointer pairs = arguments.getPointer(0);
          assertThat(arguments.getInt(8)).isEqualTo(2);
          assertThat(arguments.getByteArray(12, 52)).containsOnly(0);
          assertThat(pairs.getByteArray(0, 16)).isEqualTo(OLD.bytes());
          assertThat(pairs.getByteArray(16, 16)).isEqualTo(NEW.bytes());
          assertThat(pairs.getByteArray(32, 16)).isEqualTo(NEW.bytes());
          assertThat(pairs.getByteArray(48, 16)).isEqualTo(OLD.bytes());
          return 0;
        });
  }

  @Test
  void noMapIsTheDefault() {
    CudaArguments.pairs(
        List.of(),
        arguments -> {
          assertThat(bytes(arguments)).containsOnly(0);
          return 0;
        });
  }

  private static byte[] bytes(Memory memory) {
    return memory.getByteArray(0, (int) memory.size());
  }
}
