package dev.stasis.operator.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelectorTest {

  private static final Map<String, String> LABELS = Map.of("team", "ml", "tier", "low");

  @Test
  void anEmptySelectorMatchesEverything() {
    assertThat(new Selector(new LabelSelector()).matches(null)).isTrue();
  }

  @Test
  void everyPartHasToMatch() {
    assertThat(with("team", "ml", "tier", "In", "low", "high").matches(LABELS)).isTrue();
    assertThat(with("team", "web", "tier", "In", "low", "high").matches(LABELS)).isFalse();
    assertThat(with("team", "ml", "tier", "In", "high").matches(LABELS)).isFalse();
  }

  @Test
  void aLabelThatIsNotThereIsNotInAnyList() {
    assertThat(with("team", "ml", "zone", "NotIn", "a").matches(LABELS)).isTrue();
    assertThat(with("team", "ml", "zone", "In", "a").matches(LABELS)).isFalse();
    assertThat(with("team", "ml", "zone", "Exists").matches(LABELS)).isFalse();
    assertThat(with("team", "ml", "zone", "DoesNotExist").matches(LABELS)).isTrue();
  }

  @Test
  void anUnknownOperatorIsNamed() {
    assertThatThrownBy(() -> with("team", "ml", "zone", "Like", "a").matches(LABELS))
        .hasMessage(
            "selector.matchExpressions[zone].operator: expected In, NotIn, Exists or DoesNotExist,"
                + " got Like");
  }

  private static Selector with(
      String key, String value, String other, String operator, String... values) {
    return new Selector(
        new LabelSelectorBuilder()
            .addToMatchLabels(key, value)
            .addNewMatchExpression()
            .withKey(other)
            .withOperator(operator)
            .withValues(values)
            .endMatchExpression()
            .build());
  }
}
