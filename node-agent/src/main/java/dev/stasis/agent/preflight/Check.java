package dev.stasis.agent.preflight;

import java.util.List;

/** One property that is looked at. */
interface Check {

  /** What is not as it has to be; nothing when all is well. */
  List<Unmet> unmet(Subject subject);
}
