package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IoUringTest {

  /** Linux 6.18, of a uvloop program. */
  private static final String IDLE =
      """
      pos:\t0
      flags:\t02000002
      mnt_id:\t17
      ino:\t11016630
      SqMask:\t0x3f
      SqHead:\t4
      SqTail:\t4
      CachedSqHead:\t4
      CqMask:\t0x7f
      CqHead:\t3
      CqTail:\t4
      CachedCqTail:\t4
      SQEs:\t0
      CQEs:\t1
          3: user_data:220991160, res:0, flag:0
      SqThread:\t5054
      SqThreadCpu:\t1
      SqTotalTime:\t0
      SqWorkTime:\t0
      UserFiles:\t0
      UserBufs:\t0
      PollList:
      CqOverflowList:
      NAPI:\tdisabled
      """;

  @Test
  void anIdleRingWithACompletionThatIsNotReadIsNotBusy() {
    assertThat(IoUring.parse(4, IDLE)).isEqualTo(new IoUring(4, 11016630, 64, 4, false, false));
  }

  @ParameterizedTest
  @CsvSource({
    "'CachedSqHead:\t4', 'CachedSqHead:\t5'",
    "'SqTail:\t4', 'SqTail:\t5'",
    "'PollList:', 'PollList:\n  op=6, task_works=0'",
    "'CqOverflowList:', 'CqOverflowList:\n  user_data=7, res=0, flags=0'",
    "'CqOverflowList:', ''",
    "'CachedSqHead:\t4', 'CachedSqHead:\t99999999999999999999'",
  })
  void operationsInFlightMakeARingBusy(String idle, String busy) {
    assertThat(IoUring.parse(4, with(idle, busy)).busy()).isTrue();
  }

  @Test
  void entriesThatAreNotSubmittedYetAreNoObstacleWithoutAThread() {
    String without = with("SqThread:\\t5054", "SqThread:\\t-1").replace("SqTail:\t4", "SqTail:\t5");
    assertThat(IoUring.parse(4, without).busy()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "'UserFiles:\t0', 'UserFiles:\t2'",
    "'UserBufs:\t0', 'UserBufs:\t1'",
    "'PollList:', 'Personalities:\n    1: uid 0\nPollList:'",
    "'NAPI:\tdisabled', 'NAPI:\tenabled'",
  })
  void registeredResourcesAreDetected(String idle, String registered) {
    assertThat(IoUring.parse(4, with(idle, registered)).registered()).isTrue();
  }

  private static String with(String part, String other) {
    String old = part.replace("\\t", "\t");
    assertThat(IDLE).contains(old);
    return IDLE.replace(old, other.replace("\\t", "\t").replace("\\n", "\n"));
  }
}
