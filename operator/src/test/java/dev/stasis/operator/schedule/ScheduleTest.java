package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.schedule.Retention;
import dev.stasis.operator.testing.Kstatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ScheduleTest {

  private final RetentionPolicy policy = new RetentionPolicy();

  private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

  @Test
  void fiftyRunsKeepExactlyWhatTheyShould() {
    Retention rule = rule(3, null, null);
    List<RetentionPolicy.Candidate> kept = new ArrayList<>();
    for (int run = 0; run < 50; run++) {
      kept.add(good("run-" + (char) ('a' + run / 10) + run % 10, run));
      kept.removeAll(policy.expired(rule, kept, at(run)));
    }

    assertThat(kept)
        .extracting(RetentionPolicy.Candidate::name)
        .containsExactly("run-e7", "run-e8", "run-e9");
  }

  /** Comparing each with all others would take minutes. */
  @Timeout(30)
  @Test
  void aHundredThousandCheckpointsAreJudgedInOneGo() {
    List<RetentionPolicy.Candidate> all = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      all.add(of("run-" + i, "pod-" + i % 1000, i));
    }

    assertThat(policy.expired(rule(10, null, null), all, at(0))).hasSize(90_000);
  }

  @Test
  void theNewestGoodOneStaysHoweverOldAndLargeItIs() {
    List<RetentionPolicy.Candidate> all =
        List.of(good("old", 0), failed("failed-1", 1), failed("failed-2", 2));

    assertThat(names(policy.expired(rule(1, "1m", 1L), all, at(1000))))
        .containsExactly("failed-1", "failed-2");
  }

  @Test
  void theMostWorkIsKeptUntilAWorkloadThatStartedAgainHasRunAsLong() {
    List<RetentionPolicy.Candidate> all = new ArrayList<>();
    all.add(ran("earlier", "trainer", 0, Duration.ofMinutes(100)));
    all.add(ran("last", "trainer", 30, Duration.ofMinutes(130)));
    // The container has crashed, and starts again in minute 55.
    for (int run = 0; run < 5; run++) {
      int minute = 60 + 30 * run;
      all.add(ran("again-" + run, "trainer", minute, Duration.ofMinutes(minute - 55L)));
    }

    assertThat(names(policy.expired(rule(2, null, 1L), all, at(180))))
        .containsExactly("earlier", "again-0", "again-1", "again-2", "again-3");
    assertThat(names(policy.expired(rule(2, null, null), all, at(180))))
        .containsExactly("earlier", "again-0", "again-1", "again-2");
    assertThat(names(policy.expired(rule(2, "2h", null), all, at(180))))
        .as("as old as its user allows")
        .contains("last");

    all.add(ran("again-5", "trainer", 210, Duration.ofMinutes(155)));
    assertThat(names(policy.expired(rule(2, null, null), all, at(210)))).contains("last");
  }

  @Test
  void aCheckpointInUseIsKept() {
    RetentionPolicy.Candidate used =
        new RetentionPolicy.Candidate("used", "trainer", at(0), Duration.ZERO, 100, true, true);

    assertThat(names(policy.expired(rule(1, null, 1L), List.of(used, good("new", 1)), at(2))))
        .isEmpty();
  }

  @Test
  void failedCheckpointsDoNotReplaceGoodOnes() {
    List<RetentionPolicy.Candidate> all =
        List.of(good("a", 0), good("b", 1), failed("c", 2), failed("d", 3));

    assertThat(policy.expired(rule(2, null, null), all, at(4))).isEmpty();
  }

  @Test
  void theOldestCheckpointOfAnyPodIsDeletedFirstAboveTheSize() {
    List<RetentionPolicy.Candidate> all =
        List.of(of("a-1", "a", 0), of("b-1", "b", 1), of("a-2", "a", 2), of("b-2", "b", 3));

    assertThat(names(policy.expired(rule(null, null, 300L), all, at(4)))).containsExactly("a-1");
    assertThat(names(policy.expired(rule(null, null, 1L), all, at(4))))
        .containsExactly("a-1", "b-1");
  }

  @Test
  void youngCheckpointsAreKeptByAge() {
    List<RetentionPolicy.Candidate> all = List.of(good("a", 0), good("b", 50), good("c", 60));

    assertThat(names(policy.expired(rule(null, "30m", null), all, at(61)))).containsExactly("a");
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
            "schedule: expected minute, hour, day of month, month and day of week, got \"61 * * *"
                + " *\": ");
    assertThatThrownBy(() -> CronTimes.of("@hourly", "Europe/Nowhere"))
        .hasMessage(
            "options.timeZone: expected a name of the time zone database such as Europe/Berlin, got"
                + " Europe/Nowhere");
  }

  /** Only its user can correct it. One whose pods do not exist yet is as desired. */
  @Test
  void kstatusFailsForAnInvalidScheduleAndDoesNotWaitForPods() {
    ScheduleFixture often = new ScheduleFixture(spec -> spec.setSchedule("61 * * * *"));
    often.look();
    assertThat(new Kstatus().verdict(often.schedule)).isEqualTo(Kstatus.Verdict.FAILED);

    often.schedule.getSpec().setSchedule("* * * * *");
    often.look();
    assertThat(often.schedule.getStatus().getReason()).isEqualTo("NoPodMatches");
    assertThat(new Kstatus().verdict(often.schedule)).isEqualTo(Kstatus.Verdict.CURRENT);

    often.schedule.getSpec().setSuspend(true);
    often.look();
    assertThat(new Kstatus().verdict(often.schedule)).isEqualTo(Kstatus.Verdict.CURRENT);
  }

  @Test
  void jitterSpreadsThePodsAndIsDeterministic() {
    Duration jitter = Duration.ofMinutes(10);
    Set<Instant> begins = new HashSet<>();
    for (int pod = 0; pod < 20; pod++) {
      Instant at = new RunPlanner.RunTime("uid", "pod-" + pod, START).begins(jitter);
      assertThat(at).isBetween(START, START.plus(jitter));
      begins.add(at);
    }

    assertThat(begins).hasSizeGreaterThan(15);
    assertThat(new RunPlanner.RunTime("uid", "pod", START))
        .isEqualTo(new RunPlanner.RunTime("uid", "pod", START));
    assertThat(new RunPlanner.RunTime("uid", "pod", START).begins(Duration.ZERO)).isEqualTo(START);
    assertThat(new RunPlanner.RunTime("uid", "pod", START).checkpointName("nightly"))
        .hasSize("nightly".length() + 11)
        .isEqualTo(new RunPlanner.RunTime("uid", "pod", START).checkpointName("nightly"));
  }

  @Test
  void aRunThatIsTooLateIsSkippedOnlyWhereThatIsAsked() {
    RunPlanner.RunTime run = new RunPlanner.RunTime("uid", "pod", START);
    Optional<Duration> minute = Optional.of(Duration.ofMinutes(1));

    assertThat(run.isTooLate(Duration.ZERO, minute, START.plusSeconds(60))).isFalse();
    assertThat(run.isTooLate(Duration.ZERO, minute, START.plusSeconds(61))).isTrue();
    assertThat(run.isTooLate(Duration.ZERO, Optional.empty(), START.plusSeconds(9999))).isFalse();
  }

  private static Retention rule(
      @Nullable Integer keepLast, @Nullable String maxAge, @Nullable Long maxTotalBytes) {
    return new Retention(
        keepLast,
        maxAge == null ? null : TimeSpan.of(maxAge),
        maxTotalBytes == null ? null : new Quantity(maxTotalBytes.toString()));
  }

  private static List<String> names(List<RetentionPolicy.Candidate> checkpoints) {
    return checkpoints.stream().map(RetentionPolicy.Candidate::name).toList();
  }

  private static RetentionPolicy.Candidate good(String name, int minute) {
    return of(name, "trainer", minute);
  }

  private static RetentionPolicy.Candidate of(String name, String pod, int minute) {
    return ran(name, pod, minute, Duration.ZERO);
  }

  private static RetentionPolicy.Candidate failed(String name, int minute) {
    return new RetentionPolicy.Candidate(
        name, "trainer", at(minute), Duration.ZERO, 0, false, false);
  }

  private static RetentionPolicy.Candidate ran(String name, String pod, int minute, Duration work) {
    return new RetentionPolicy.Candidate(name, pod, at(minute), work, 100, true, false);
  }

  private static Instant at(int minute) {
    return START.plus(Duration.ofMinutes(minute));
  }
}
