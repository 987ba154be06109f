package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PrintableStatusTest {

  /** A process may have this name: it clears the screen, and sets the terminal's title. */
  private static final String NAME = "\u001b[2J\u001b]0;root\u0007\u009b1m\u202etrainer";

  private static final String SHOWN = "?[2J?]0;root??1m?trainer";

  private final ActiveOperation operation =
      Orders.active(Orders.ofSomebody().delete(), OperationStage.CLAIMED);

  @Test
  void controlCharactersOfAWorkloadReachNoMessage() {
    operation.change(
        status -> {
          status.setMessage("process " + NAME + ":\nsecond line");
          status.setFaults(List.of(Fault.misfit("Refused", "process", "none", NAME)));
        });

    GpuNodeOperationStatus said = operation.status();
    assertThat(said.getMessage()).isEqualTo("process " + SHOWN + ":\nsecond line");
    assertThat(said.getFaults()).containsExactly(Fault.misfit("Refused", "process", "none", SHOWN));
  }

  @Test
  void thePodTemplateIsNotChanged() {
    operation.change(
        status -> {
          status.setArgv(List.of(NAME));
          status.setPodTemplate(Map.of("name", NAME));
        });

    assertThat(operation.status().getArgv()).containsExactly(NAME);
    assertThat(operation.status().getPodTemplate()).containsEntry("name", NAME);
  }
}
