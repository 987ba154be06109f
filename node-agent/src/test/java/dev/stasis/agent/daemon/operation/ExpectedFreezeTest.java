package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.node.SelfTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ExpectedFreezeTest {

  private static Duration frozen(long layerBytes, boolean writes) {
    SelfTest node = new SelfTest();
    node.setWriteBytesPerSecond(1_000_000_000L);
    return new ExpectedFreeze(0, 0, layerBytes, false, writes).frozen(node);
  }

  @Test
  void filesThatArePackedCount() {
    Duration none = frozen(0, true);

    assertThat(frozen(30_000_000_000L, true).minus(none)).isEqualTo(Duration.ofSeconds(30));
    assertThat(frozen(30_000_000_000L, false)).isEqualTo(none);
  }
}
