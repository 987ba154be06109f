package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** So many connections at most have not proven yet who they are. */
class GreetingsTest {

  @Test
  void theOldestSilentConnectionIsClosedForTheNewest() throws IOException {
    try (Greetings greetings = new Greetings(2, Duration.ofHours(1))) {
      List<Socket> lines = began(greetings, 3);

      assertThat(lines).extracting(Socket::isClosed).containsExactly(true, false, false);
    }
  }

  @Test
  void connectionsThatHaveGreetedAreNotCounted() throws IOException {
    try (Greetings greetings = new Greetings(2, Duration.ofHours(1))) {
      List<Socket> lines = began(greetings, 2);
      greetings.of(lines.get(0)).close();

      lines.addAll(began(greetings, 1));

      assertThat(lines).extracting(Socket::isClosed).containsExactly(false, false, false);
    }
  }

  private static List<Socket> began(Greetings greetings, int count) {
    List<Socket> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lines.add(new Socket());
      greetings.began(lines.get(i));
    }
    return lines;
  }
}
