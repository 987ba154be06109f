package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.compat.Property;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Creates faults in the terms of the API. */
final class Faults {

  /** A property of the workload or of its node prevents a freeze. */
  static final String PREFLIGHT_REFUSED = "PreflightRefused";

  /** A property of the workload prevents a restore in another pod. */
  static final String NOT_PORTABLE = "NotPortable";

  /** Memory is not sufficient. */
  static final String NO_ROOM = "NoRoom";

  /** The target differs from the node at the freeze. */
  static final String INCOMPATIBLE = "Incompatible";

  /** A restarted agent found the operation unfinished. */
  static final String AGENT_RESTARTED = "AgentRestarted";

  /** A fault of the agent itself. */
  static final String INTERNAL = "Internal";

  private Faults() {}

  /** A property does not have the expected value. */
  static Fault of(String reason, String property, String wanted, String found) {
    return new Fault(
        reason,
        property,
        wanted,
        found,
        null,
        null,
        "%s: expected %s, got %s".formatted(property, wanted, found));
  }

  /** A step failed. */
  static Fault inStep(String reason, String step, String message) {
    return new Fault(reason, null, null, null, step, driverError(message), message);
  }

  /** The engine's refusals before a freeze. */
  static Fault freezing(FailedRequirement unmet) {
    return of(
        unmet.property().equals(Inspected.RoomFound.PROPERTY)
            ? NO_ROOM
            : unmet.scope() == Scope.NEW_POD ? NOT_PORTABLE : PREFLIGHT_REFUSED,
        unmet.property(),
        unmet.wanted(),
        unmet.found());
  }

  /** Returns what prevents a restore in another pod; null if nothing does. */
  static @Nullable List<Fault> notPortable(List<FailedRequirement> unmet) {
    return unmet.isEmpty() ? null : unmet.stream().map(Faults::freezing).toList();
  }

  /** The engine's refusals before a restore. */
  static Fault restoring(FailedRequirement unmet) {
    if (unmet.scope() == Scope.NEW_POD) {
      return freezing(unmet);
    }
    if (unmet.scope() == Scope.ARTIFACT) {
      return of("ArtifactRefused", unmet.property(), unmet.wanted(), unmet.found());
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

  /** The driver's own error, if the message contains one. */
  private static @Nullable String driverError(String message) {
    java.util.regex.Matcher error =
        java.util.regex.Pattern.compile("CUDA_ERROR_[A-Z_]+( \\([0-9]+\\))?").matcher(message);
    return error.find() ? error.group() : null;
  }
}
