package dev.stasis.agent.preflight;

import java.util.List;

/**
 * Detects a container with an AppArmor profile or SELinux label that a restore cannot apply to all
 * its threads.
 */
final class LabelCheck implements Check {

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    String label = subject.around().foreignLabel();
    return label == null ? List.of() : List.of(Requirement.SECURITY_LABEL.found(label));
  }
}
