package dev.stasis.operator.schedule;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One run for one pod. When it begins and what it is called follow from schedule, pod and time: an
 * operator that is started anew finds the run that it began.
 *
 * @param schedule uid of the GpuCheckpointSchedule
 * @param podUid uid of the pod
 * @param due when it is due, before jitter
 */
public record RunTime(String schedule, String podUid, Instant due) {

  /** When it begins: runs of several pods are spread over the jitter, each time anew. */
  public Instant begins(Duration jitter) {
    if (jitter.toMillis() <= 0) {
      return due;
    }
    return due.plusMillis(suffix().number().mod(BigInteger.valueOf(jitter.toMillis())).longValue());
  }

  /**
   * Until when it may begin.
   *
   * @param late how late it may be; empty: any time before the next one
   */
  public boolean isTooLate(Duration jitter, Optional<Duration> late, Instant now) {
    return late.filter(most -> begins(jitter).plus(most).isBefore(now)).isPresent();
  }

  /** Name of its GpuCheckpoint: the schedule's, and ten letters. */
  public String checkpointName(String scheduleName) {
    return scheduleName + "-" + suffix().text();
  }

  private Suffix suffix() {
    return new Suffix(schedule + "/" + podUid + "/" + due);
  }
}
