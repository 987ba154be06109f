package dev.stasis.operator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class AwaitKindTest {

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final AtomicInteger asked = new AtomicInteger();

  @Test
  void endsOnceTheKindIsOfferedAndStaysOffered() throws Exception {
    // One API server knows it, the other not yet, then both do.
    BooleanSupplier offered = () -> asked.incrementAndGet() != 2;

    assertThat(run(offered, Duration.ofSeconds(60))).isZero();
    assertThat(asked).hasValue(2 + AwaitKind.ANSWERS);
  }

  @Test
  void anAnswerThatFailsIsAskedForAgain() throws Exception {
    BooleanSupplier offered =
        () -> {
          if (asked.incrementAndGet() == 1) {
            throw new KubernetesClientException("connection refused");
          }
          return true;
        };

    assertThat(run(offered, Duration.ofSeconds(60))).isZero();
    assertThat(log()).contains("connection refused").contains("offers stores");
  }

  @Test
  void saysWhichKindIsMissing() throws Exception {
    assertThat(run(() -> false, Duration.ofMillis(50))).isEqualTo(AwaitKind.MISSING);
    assertThat(log()).contains("does not offer stores").contains("kubectl get crd");
  }

  private int run(BooleanSupplier offered, Duration atMost) throws InterruptedException {
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    return new AwaitKind(offered, out).run("stores", atMost);
  }

  private String log() {
    return said.toString(StandardCharsets.UTF_8);
  }
}
