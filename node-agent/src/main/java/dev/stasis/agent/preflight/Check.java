package dev.stasis.agent.preflight;

import java.util.List;

/** One property that is checked. */
interface Check {

  /** Returns the unmet requirements; empty if all are met. */
  List<FailedRequirement> unmet(Subject subject);
}
