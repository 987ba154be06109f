package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1alpha1.common.TimeSpan;
import dev.stasis.api.v1alpha1.schedule.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ScheduleTest {

  private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

  @Test
  void fiftyRunsKeepExactlyWhatTheyShould() {
    RetentionRule rule = rule(3, null, null);
    List<KeptCheckpoint> kept = new ArrayList<>();
    for (int run = 0; run < 50; run++) {
      kept.add(good("run-" + (char) ('a' + run / 10) + run % 10, run));
      kept.removeAll(rule.excess(kept, at(run)));
    }

    assertThat(kept).extracting(KeptCheckpoint::name).containsExactly("run-e7", "run-e8", "run-e9");
  }

  @Test
  void theNewestGoodOneStaysHoweverOldAndLargeItIs() {
    List<KeptCheckpoint> all =
        List.of(good("old", 0), failed("failed-1", 1), failed("failed-2", 2));

    assertThat(names(rule(1, "1m", 1L).excess(all, at(1000))))
        .containsExactly("failed-1", "failed-2");
  }

  @Test
  void oneThatIsInUseStays() {
    KeptCheckpoint used = new KeptCheckpoint("used", "trainer", at(0), 100, true, true);

    assertThat(names(rule(1, null, 1L).excess(List.of(used, good("new", 1)), at(2)))).isEmpty();
  }

  @Test
  void failedOnesKeepNoGoodOneOut() {
    List<KeptCheckpoint> all = List.of(good("a", 0), good("b", 1), failed("c", 2), failed("d", 3));

    assertThat(rule(2, null, null).excess(all, at(4))).isEmpty();
  }

  @Test
  void beyondTheSizeTheOldestGoesFirstWhoseverItIs() {
    List<KeptCheckpoint> all =
        List.of(of("a-1", "a", 0), of("b-1", "b", 1), of("a-2", "a", 2), of("b-2", "b", 3));

    assertThat(names(rule(null, null, 300L).excess(all, at(4)))).containsExactly("a-1");
    assertThat(names(rule(null, null, 1L).excess(all, at(4)))).containsExactly("a-1", "b-1");
  }

  @Test
  void ageAloneKeepsTheYoungOnes() {
    List<KeptCheckpoint> all = List.of(good("a", 0), good("b", 50), good("c", 60));

    assertThat(names(rule(null, "30m", null).excess(all, at(61)))).containsExactly("a");
  }

  @Test
  void timesAreThoseOfTheZone() {
    CronTimes berlin = CronTimes.of("30 2 * * *", "Europe/Berlin");

    assertThat(berlin.nextAfter(START)).contains(Instant.parse("2026-11-22T01:30:00Z"));
    assertThat(berlin.lastUntil(START)).contains(Instant.parse("2026-11-21T01:30:00Z"));
    assertThat(CronTimes.of("@hourly", null).lastUntil(START)).contains(START);
    assertThat(CronTimes.of("0 0 30 2 *", null).nextAfter(START)).isEmpty();
  }

  @Test
  void anInvalidScheduleOrZoneIsNamed() {
    assertThatThrownBy(() -> CronTimes.of("61 * * * *", null))
        .hasMessageStartingWith(
            "schedule: wanted minute, hour, day of month, month and day of week, found \"61 * * *"
                + " *\": ");
    assertThatThrownBy(() -> CronTimes.of("@hourly", "Europe/Nowhere"))
        .hasMessage(
            "timeZone: wanted one of the time zone database as Europe/Berlin, found"
                + " Europe/Nowhere");
  }

  @Test
  void jitterSpreadsThePodsAndIsTheSameForWhoeverAsks() {
    Duration jitter = Duration.ofMinutes(10);
    Set<Instant> begins = new HashSet<>();
    for (int pod = 0; pod < 20; pod++) {
      Instant at = new RunTime("uid", "pod-" + pod, START).begins(jitter);
      assertThat(at).isBetween(START, START.plus(jitter));
      begins.add(at);
    }

    assertThat(begins).hasSizeGreaterThan(15);
    assertThat(new RunTime("uid", "pod", START)).isEqualTo(new RunTime("uid", "pod", START));
    assertThat(new RunTime("uid", "pod", START).begins(Duration.ZERO)).isEqualTo(START);
    assertThat(new RunTime("uid", "pod", START).checkpointName("nightly"))
        .hasSize("nightly".length() + 11)
        .isEqualTo(new RunTime("uid", "pod", START).checkpointName("nightly"));
  }

  @Test
  void aRunThatIsTooLateIsSkippedOnlyWhereThatIsAsked() {
    RunTime run = new RunTime("uid", "pod", START);
    Optional<Duration> minute = Optional.of(Duration.ofMinutes(1));

    assertThat(run.isTooLate(Duration.ZERO, minute, START.plusSeconds(60))).isFalse();
    assertThat(run.isTooLate(Duration.ZERO, minute, START.plusSeconds(61))).isTrue();
    assertThat(run.isTooLate(Duration.ZERO, Optional.empty(), START.plusSeconds(9999))).isFalse();
  }

  private static RetentionRule rule(
      @Nullable Integer keepLast, @Nullable String maxAge, @Nullable Long maxTotalBytes) {
    return new RetentionRule(
        new Retention(keepLast, maxAge == null ? null : TimeSpan.of(maxAge), maxTotalBytes));
  }

  private static List<String> names(List<KeptCheckpoint> checkpoints) {
    return checkpoints.stream().map(KeptCheckpoint::name).toList();
  }

  private static KeptCheckpoint good(String name, int minute) {
    return of(name, "trainer", minute);
  }

  private static KeptCheckpoint of(String name, String pod, int minute) {
    return new KeptCheckpoint(name, pod, at(minute), 100, true, false);
  }

  private static KeptCheckpoint failed(String name, int minute) {
    return new KeptCheckpoint(name, "trainer", at(minute), 0, false, false);
  }

  private static Instant at(int minute) {
    return START.plus(Duration.ofMinutes(minute));
  }
}
