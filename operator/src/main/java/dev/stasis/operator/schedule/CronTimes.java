package dev.stasis.operator.schedule;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The times of a schedule, in its time zone. */
final class CronTimes {

  private static final Map<String, String> SHORT_FORMS =
      Map.of(
          "@hourly", "0 * * * *",
          "@daily", "0 0 * * *",
          "@midnight", "0 0 * * *",
          "@weekly", "0 0 * * 0",
          "@monthly", "0 0 1 * *",
          "@yearly", "0 0 1 1 *",
          "@annually", "0 0 1 1 *");

  private final ExecutionTime times;
  private final ZoneId zone;

  private CronTimes(ExecutionTime times, ZoneId zone) {
    this.times = times;
    this.zone = zone;
  }

  /**
   * Parses a schedule.
   *
   * @param schedule five fields of cron, or a short form
   * @param timeZone null: UTC
   * @throws IllegalArgumentException names the property, the expected and the actual value
   */
  static CronTimes of(String schedule, @Nullable String timeZone) {
    ZoneId zone;
    try {
      zone = ZoneId.of(timeZone == null ? "UTC" : timeZone);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "options.timeZone: expected a name of the time zone database such as Europe/Berlin, got "
              + timeZone,
          e);
    }
    try {
      CronParser parser =
          new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX));
      String fields = SHORT_FORMS.getOrDefault(schedule, schedule);
      return new CronTimes(ExecutionTime.forCron(parser.parse(fields).validate()), zone);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "schedule: expected minute, hour, day of month, month and day of week, got \""
              + schedule
              + "\": "
              + e.getMessage(),
          e);
    }
  }

  /** Returns the last time up to now; empty if there was none. */
  Optional<Instant> lastUntil(Instant now) {
    ZonedDateTime here = now.atZone(zone);
    if (times.isMatch(here) && here.equals(here.withSecond(0).withNano(0))) {
      return Optional.of(now);
    }
    return times.lastExecution(here).map(ZonedDateTime::toInstant);
  }

  /** Returns the first time after now; empty if the schedule names a date that does not exist. */
  Optional<Instant> nextAfter(Instant now) {
    return times.nextExecution(now.atZone(zone)).map(ZonedDateTime::toInstant);
  }
}
