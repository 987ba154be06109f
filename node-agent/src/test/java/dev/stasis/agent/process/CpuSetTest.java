package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CpuSetTest {

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "0-3", "0-3,8", "1,3,5-7,63-65"})
  void isWrittenAsItWasRead(String list) {
    assertThat(CpuSet.parse(list)).hasToString(list);
  }

  @Test
  void theKernelsListIsRead() {
    assertThat(CpuSet.parse("0-2,8\n").cpus()).containsExactly(0, 1, 2, 8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0-2000000000", "70000", "a-b", "1--2"})
  void anInvalidListOfProcessorsIsRefused(String list) {
    assertThatThrownBy(() -> CpuSet.parse(list)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    // The same processors: the same numbers.
    "2, 0-3, 0-3, 2",
    // As many others: by rank.
    "2, 0-3, 8-11, 10",
    "'0,2', 0-3, '1,3,5,7', '1,5'",
    // Others in number: the same ones, if they are there.
    "2, 0-3, 0-7, 2",
    "2, 0-3, 0-1, ''",
    "2, 0-3, 8-15, ''"
  })
  void isCarriedByRankOrByNumber(String cpus, String of, String to, String expected) {
    assertThat(CpuSet.parse(cpus).carried(CpuSet.parse(of), CpuSet.parse(to)))
        .isEqualTo(expected.isEmpty() ? Optional.empty() : Optional.of(CpuSet.parse(expected)));
  }

  @Test
  void aMaskHasWholeWordsAndABitForEach() {
    assertThat(CpuSet.parse("0,9").mask()).containsExactly(1, 2, 0, 0, 0, 0, 0, 0);
    assertThat(CpuSet.parse("64").mask()).hasSize(16).endsWith(1, 0, 0, 0, 0, 0, 0, 0);
  }

  @Test
  void aThreadIsBoundAndItsTimersAreLate() throws IOException {
    Path self = Path.of("/proc/thread-self");
    int tid = Integer.parseInt(String.valueOf(self.toRealPath().getFileName()));
    ProcFs proc = new ProcFs();
    ThreadSettings before = settings(proc, tid);
    ThreadControl control = new ThreadControl(proc);
    CpuSet one = new CpuSet(List.of(before.cpus().cpus().get(0)));
    try {
      control.pin(tid, one);
      control.timerSlack(tid, 70_000);
      assertThat(Files.readString(self.resolve("status"))).contains("Cpus_allowed_list:\t" + one);
      assertThat(settings(proc, tid)).isEqualTo(new ThreadSettings(tid, tid, one, 70_000));
    } finally {
      control.pin(tid, before.cpus());
      control.timerSlack(tid, before.timerSlackNanos());
    }
  }

  private static ThreadSettings settings(ProcFs proc, int tid) {
    return proc.threadSettings((int) ProcessHandle.current().pid()).stream()
        .filter(thread -> thread.tid() == tid)
        .findFirst()
        .orElseThrow();
  }
}
