package dev.stasis.operator.owner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HandoverWebhookTest {

  @Test
  void theWebhookMatchesOnlyPodsOfTheseOwners() {
    assertThat(HandoverWebhook.condition(owners(2)))
        .isEqualTo(
            "object.metadata.?ownerReferences.orValue([]).exists(o, o.uid in "
                + "['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000001'])");
  }

  /** An API server refuses more than 100,000 characters, and then nothing would be handed over. */
  @Test
  void theExpressionStaysWithinItsLimitHoweverManyOwnersAreHeld() {
    assertThat(HandoverWebhook.condition(owners(1000))).hasSizeLessThan(50_000).contains("in [");
    assertThat(HandoverWebhook.condition(owners(100_000)))
        .hasSizeLessThan(200)
        .contains("o.?controller.orValue(false)");
  }

  private static List<GatedOwner> owners(int many) {
    return IntStream.range(0, many)
        .mapToObj(i -> new GatedOwner("ml", "00000000-0000-0000-0000-%012d".formatted(i)))
        .toList();
  }
}
