package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;

/** Reasons as words, and back. */
final class Reasons {

  private Reasons() {}

  /** The reason of that word; agents have words of their own that no condition has. */
  static Reason of(String word, Reason otherwise) {
    return Reason.find(word).orElse(otherwise);
  }

  /** Something is not as it must be. */
  static Fault fault(Reason reason, String property, String wanted, String found) {
    return Fault.misfit(reason.value(), property, wanted, found);
  }
}
