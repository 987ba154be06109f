package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.process.ProcLimitException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InspectionMemoryTest {

  private final InspectionMemory memory = new InspectionMemory();

  @Test
  void theProcessWithWhichAllHaveTooMuchIsNamed() {
    assertThatThrownBy(
            () -> {
              for (int pid = 1; pid <= 20; pid++) {
                memory.keep(pid, Map.of("A" + pid, pid + "a".repeat(3 << 20)));
              }
            })
        .isInstanceOf(ProcLimitException.class)
        .hasMessageContaining("up to process 11: expected at most 32 MiB");
  }

  @Test
  void aThousandForksKeepTheTextsOfTheirParent() {
    String path = "/usr/lib/" + "p".repeat(4000);

    assertThatCode(
            () -> {
              for (int pid = 1; pid <= 1000; pid++) {
                for (int library = 0; library < 500; library++) {
                  memory.keep(pid, path + library);
                }
              }
            })
        .doesNotThrowAnyException();
    assertThat(memory.keep(1, path + "0")).isSameAs(memory.keep(2, path + "0"));
  }
}
