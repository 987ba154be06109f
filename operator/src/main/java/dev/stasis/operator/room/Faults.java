package dev.stasis.operator.room;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;

/** Describes why memory is missing. */
final class Faults {

  private Faults() {}

  static Fault noRoom(String property, String wanted, String found) {
    return new Fault(
        Reason.NO_ROOM.value(),
        property,
        wanted,
        found,
        null,
        null,
        property + ": expected " + wanted + ", got " + found);
  }
}
