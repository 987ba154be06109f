package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SweepTurnTest {

  private static final Duration EVERY = Duration.ofMinutes(5);
  private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");

  @TempDir private Path root;

  @Test
  void oneOfThemSweepsInAPeriod() throws IOException {
    assertThat(at(NOW).take()).isTrue();
    assertThat(at(NOW.plusSeconds(1)).take()).isFalse();
    assertThat(at(NOW.plus(EVERY).minusSeconds(1)).take()).isFalse();
    assertThat(at(NOW.plus(EVERY)).take()).isTrue();
    assertThat(at(NOW.plus(EVERY).plusSeconds(1)).take()).isFalse();
  }

  @Test
  void aNodeWhoseClockIsAheadHoldsNobodyUp() throws IOException {
    assertThat(at(NOW.plus(Duration.ofDays(1))).take()).isTrue();
    assertThat(at(NOW).take()).isTrue();
    assertThat(Files.getLastModifiedTime(root.resolve(".swept"))).isEqualTo(FileTime.from(NOW));
  }

  @Test
  void aTurnThatIsGivenBackIsTakenAgain() throws IOException {
    assertThat(at(NOW).take()).isTrue();

    at(NOW).giveBack();

    assertThat(at(NOW).isBefore(NOW)).isTrue();
    assertThat(at(NOW).take()).isTrue();
    assertThat(at(NOW).take()).isFalse();
  }

  private StoreSweeps.SweepTurn at(Instant now) {
    return new StoreSweeps.SweepTurn(root, EVERY, Clock.fixed(now, ZoneOffset.UTC));
  }
}
