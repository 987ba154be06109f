package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Why something came to nothing.
 *
 * @param faults every reason
 */
record Why(List<Fault> faults) {

  Why {
    faults = List.copyOf(faults);
  }

  /** In one word; what only an agent says is an operation that failed. */
  Reason reason() {
    return faults.stream()
        .flatMap(
            fault ->
                Arrays.stream(Reason.values())
                    .filter(reason -> reason.word().equals(fault.reason())))
        .findFirst()
        .orElse(Reason.OPERATION_FAILED);
  }

  /** In one line. */
  String sentence() {
    return faults.stream().map(Fault::message).distinct().collect(Collectors.joining("; "));
  }
}
