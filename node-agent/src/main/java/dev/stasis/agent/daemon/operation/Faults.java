package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.compat.Property;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Says what is not as it must be, in the words of the API. */
final class Faults {

  /** A property of the workload or of its node that rules a freeze out. */
  static final String PREFLIGHT_REFUSED = "PreflightRefused";

  /** A property of the workload keeps it from being restored in another pod. */
  static final String NOT_PORTABLE = "NotPortable";

  /** Memory does not suffice. */
  static final String NO_ROOM = "NoRoom";

  /** The target is not what the workload was frozen on. */
  static final String INCOMPATIBLE = "Incompatible";

  /** The restart of an agent found an operation in the middle. */
  static final String AGENT_RESTARTED = "AgentRestarted";

  private Faults() {}

  /** A property that is not as wanted. */
  static Fault of(String reason, String property, String wanted, String found) {
    return new Fault(
        reason,
        property,
        wanted,
        found,
        null,
        null,
        "%s: wanted %s, found %s".formatted(property, wanted, found));
  }

  /** Something that went wrong in a step. */
  static Fault inStep(String reason, String step, String message) {
    return new Fault(reason, null, null, null, step, driverError(message), message);
  }

  /** What the engine refuses before a freeze. */
  static Fault freezing(Unmet unmet) {
    return of(
        unmet.property().equals(Inspected.RoomFound.PROPERTY)
            ? NO_ROOM
            : unmet.scope() == Scope.NEW_POD ? NOT_PORTABLE : PREFLIGHT_REFUSED,
        unmet.property(),
        unmet.wanted(),
        unmet.found());
  }

  /** What keeps a workload from another pod; null when nothing does. */
  static @Nullable List<Fault> notPortable(List<Unmet> unmet) {
    return unmet.isEmpty() ? null : unmet.stream().map(Faults::freezing).toList();
  }

  /** What the engine refuses before a restore. */
  static Fault restoring(Unmet unmet) {
    if (unmet.scope() == Scope.NEW_POD) {
      return freezing(unmet);
    }
    String reason =
        Property.ofKey(unmet.property()).isPresent() || unmet.property().startsWith("gpu.")
            ? INCOMPATIBLE
            : switch (unmet.property()) {
              case Inspected.RoomFound.PROPERTY -> NO_ROOM;
              case "namespace of the artifact" -> "OtherNamespace";
              case "target container", "holder's folder" -> "TargetTaken";
              default -> "TargetRefused";
            };
    return of(reason, unmet.property(), unmet.wanted(), unmet.found());
  }

  static String sentence(List<Fault> faults) {
    return faults.stream().map(Fault::message).collect(Collectors.joining("; "));
  }

  /** The driver's error in its own words, where the sentence holds one. */
  private static @Nullable String driverError(String message) {
    java.util.regex.Matcher error =
        java.util.regex.Pattern.compile("CUDA_ERROR_[A-Z_]+( \\([0-9]+\\))?").matcher(message);
    return error.find() ? error.group() : null;
  }
}
