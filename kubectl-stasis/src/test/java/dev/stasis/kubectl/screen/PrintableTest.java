package dev.stasis.kubectl.screen;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTest {

  private static final String HOSTILE = "\u001b[2J\u001b]0;root\u0007\u009b1m\u202e\rtrainer";

  @Test
  void noEscapeOfAWorkloadReachesTheTerminal() {
    assertThat(Printable.lines("a\tb\n" + HOSTILE)).isEqualTo("a\tb\n?[2J?]0;root??1m??trainer");
    assertThat(Printable.line("a\nb\u007f")).isEqualTo("a?b?");
    assertThat(Printable.lines("größer 世界")).isEqualTo("größer 世界");
  }

  @Test
  void aCellIsOneLineOfATable() {
    Table table = new Table("NAME", "REASON");
    table.add("trainer", HOSTILE + "\nfake   row");

    assertThat(table.lines())
        .containsExactly("NAME      REASON", "trainer   ?[2J?]0;root??1m??trainer?fake   row");
  }
}
