package dev.stasis.agent.preflight;

import java.util.List;

/** Finds a container whose AppArmor profile or SELinux label a restore cannot apply. */
final class LabelCheck implements Check {

  @Override
  public List<Unmet> unmet(Subject subject) {
    String label = subject.around().foreignLabel();
    return label == null ? List.of() : List.of(Requirement.SECURITY_LABEL.found(label));
  }
}
