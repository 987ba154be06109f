package dev.stasis.operator.room;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;

/** Says why there is no room. */
final class Faults {

  private Faults() {}

  static Fault noRoom(String property, String wanted, String found) {
    return new Fault(
        Reason.NO_ROOM.word(),
        property,
        wanted,
        found,
        null,
        null,
        property + ": wanted " + wanted + ", found " + found);
  }
}
