package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.operator.testing.Kstatus;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ReportTest {

  private static final Instant FIRST = Instant.parse("2026-11-21T10:00:02Z");
  private static final Instant LATER = Instant.parse("2026-11-21T10:00:40.123456Z");

  private final GpuCheckpointStatus status = new GpuCheckpointStatus();

  @Test
  void theSummaryIsFalseWhileAtWork() {
    report(1, FIRST).working(Reason.IN_PROGRESS, "freezing").writeTo(status);

    assertThat(condition("Ready"))
        .isEqualTo(
            new Condition("Ready", ConditionValue.FALSE, "InProgress", "freezing", FIRST, 1L));
    assertThat(status.getReason()).isEqualTo("InProgress");
    assertThat(status.getMessage()).isEqualTo("freezing");
    assertThat(status.getObservedGeneration()).isEqualTo(1);
  }

  @Test
  void theTimeOfATransitionStaysWhileTheStatusStays() {
    report(1, FIRST).working(Reason.WAITING, "waiting").writeTo(status);
    report(2, LATER).working(Reason.IN_PROGRESS, "freezing").writeTo(status);

    assertThat(condition("Ready"))
        .isEqualTo(
            new Condition("Ready", ConditionValue.FALSE, "InProgress", "freezing", FIRST, 2L));
  }

  @Test
  void aTransitionIsKeptToTheSecond() {
    report(1, FIRST).working(Reason.WAITING, "waiting").writeTo(status);
    report(1, LATER).done(Reason.ARTIFACT_VERIFIED, "48.9Gi in store local").writeTo(status);

    assertThat(condition("Ready").lastTransitionTime())
        .isEqualTo(Instant.parse("2026-11-21T10:00:40Z"));
    assertThat(status.getReason()).isEqualTo("ArtifactVerified");
  }

  @Test
  void aFinalFailureIsAConditionOfItsOwn() {
    report(1, FIRST).failed(Reason.NO_ROOM, "no room").writeTo(status);

    assertThat(condition("Ready").status()).isEqualTo(ConditionValue.FALSE);
    assertThat(condition("Failed"))
        .isEqualTo(new Condition("Failed", ConditionValue.TRUE, "NoRoom", "no room", FIRST, 1L));
  }

  @Test
  void restingWithoutAnArtifactIsNoFailure() {
    report(1, FIRST)
        .rests(Reason.NO_ARTIFACT, "suspended in memory")
        .also(ConditionType.SUSPENDED, ConditionValue.TRUE, Reason.SUSPENDED, "holds no GPU memory")
        .writeTo(status);

    assertThat(status.getConditions())
        .extracting(Condition::type)
        .as("a False one would be read as work in progress")
        .containsExactly("Suspended");
    assertThat(status.getReason()).isEqualTo("NoArtifact");
  }

  @Test
  void kstatusKnowsWhenToWait() {
    report(1, FIRST).working(Reason.IN_PROGRESS, "freezing").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.IN_PROGRESS);
    report(1, FIRST).done(Reason.ARTIFACT_VERIFIED, "stored").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.CURRENT);
    report(1, FIRST).rests(Reason.NO_ARTIFACT, "suspended").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.CURRENT);
    report(1, FIRST).notReached(Reason.STORE_NOT_WRITABLE, "no space").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.IN_PROGRESS);
    report(1, FIRST).stalled(Reason.CANCELLED, "cancelled").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.FAILED);
    report(1, FIRST).failed(Reason.NO_ROOM, "no room").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.FAILED);
    report(1, FIRST).working(Reason.WAITING, "tried again").writeTo(status);
    assertThat(verdict()).isEqualTo(Kstatus.Verdict.IN_PROGRESS);
  }

  private Kstatus.Verdict verdict() {
    return new Kstatus().verdict(status);
  }

  @Test
  void conditionsOfOthersAreKept() {
    Condition foreign =
        new Condition("example.com/Seen", ConditionValue.TRUE, "Seen", "by another", FIRST, null);
    status.setConditions(java.util.List.of(foreign));
    report(1, LATER).working(Reason.WAITING, "waiting").writeTo(status);

    assertThat(status.getConditions()).first().isEqualTo(foreign);
  }

  /** 23 characters: a longer one would break the lines of {@code kubectl get} in a terminal. */
  @Test
  void everyReasonIsOneShortWordOfItsOwn() {
    assertThat(Reason.values())
        .extracting(Reason::value)
        .doesNotHaveDuplicates()
        .allSatisfy(word -> assertThat(word).matches("[A-Z][A-Za-z]{1,22}"));
  }

  @Test
  void theColumnReasonHasTheReasonOfTheCondition() {
    for (Reason reason : Reason.values()) {
      report(1, FIRST).failed(reason, "why").writeTo(status);
      assertThat(status.getReason()).isEqualTo(condition("Failed").reason());
      report(1, FIRST).working(reason, "why").writeTo(status);
      assertThat(status.getReason()).isEqualTo(condition("Ready").reason());
    }
  }

  private Report report(long generation, Instant now) {
    return new Report(status, ConditionType.READY, generation, Clock.fixed(now, ZoneOffset.UTC));
  }

  private Condition condition(String type) {
    return Objects.requireNonNull(status.getConditions()).stream()
        .filter(condition -> condition.type().equals(type))
        .findFirst()
        .orElseThrow();
  }
}
