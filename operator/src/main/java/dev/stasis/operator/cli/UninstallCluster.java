package dev.stasis.operator.cli;

import dev.stasis.operator.uninstall.InstalledResources;
import dev.stasis.operator.uninstall.Step;
import java.time.Duration;

/** What an uninstall needs of a cluster. */
interface UninstallCluster {

  /** Returns all resources of Stasis. */
  InstalledResources read();

  /** Returns false if the object was deleted after it was read, which is equivalent. */
  boolean take(Step step);

  /** Returns after a change, or after a time. */
  void awaitChange(Duration atMost) throws InterruptedException;

  /**
   * Ends the operator, so that no operation begins any more. What is read afterwards is final once
   * no operation is left.
   *
   * @return whether it has ended
   */
  boolean stopOperator() throws InterruptedException;

  /** Starts it again, if it was stopped: also by an earlier uninstall that was killed then. */
  void startOperator();
}
