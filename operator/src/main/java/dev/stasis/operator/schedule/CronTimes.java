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

/** The times of a schedule, in its zone. */
public final class CronTimes {

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
   * Reads them.
   *
   * @param schedule five fields of cron, or a short form
   * @param timeZone null: UTC
   * @throws IllegalArgumentException one sentence: the property, what was wanted, what was found
   */
  public static CronTimes of(String schedule, @Nullable String timeZone) {
    ZoneId zone;
    try {
      zone = ZoneId.of(timeZone == null ? "UTC" : timeZone);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "timeZone: wanted one of the time zone database as Europe/Berlin, found " + timeZone, e);
    }
    try {
      CronParser parser =
          new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX));
      String fields = SHORT_FORMS.getOrDefault(schedule, schedule);
      return new CronTimes(ExecutionTime.forCron(parser.parse(fields).validate()), zone);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "schedule: wanted minute, hour, day of month, month and day of week, found \""
              + schedule
              + "\": "
              + e.getMessage(),
          e);
    }
  }

  /** The last time that is not after now; empty when there was none. */
  public Optional<Instant> lastUntil(Instant now) {
    ZonedDateTime here = now.atZone(zone);
    if (times.isMatch(here) && here.equals(here.withSecond(0).withNano(0))) {
      return Optional.of(now);
    }
    return times.lastExecution(here).map(ZonedDateTime::toInstant);
  }

  /** The first time after now; empty for a day that never comes. */
  public Optional<Instant> nextAfter(Instant now) {
    return times.nextExecution(now.atZone(zone)).map(ZonedDateTime::toInstant);
  }
}
