package dev.stasis.operator.target;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;

/** How the target comes to be, which depends on who owns the source. */
public sealed interface Way {

  /**
   * The operator creates it; no controller would make another one.
   *
   * @param ownerGone the controller that the source had is deleted
   */
  record Alone(boolean ownerGone) implements Way {}

  /**
   * The operator creates it while the source's controller looks on: without owner and without the
   * labels by which the controller finds its pods, or it would be deleted at once. It gets both at
   * the switch-over.
   *
   * @param selectorKeys keys of the controller's selector
   */
  record Apart(Set<String> selectorKeys) implements Way {
    public Apart {
      selectorKeys = Set.copyOf(selectorKeys);
    }
  }

  /**
   * The pod that the controller makes in the source's place is turned into the target as it is
   * admitted, and held by a scheduling gate.
   *
   * @param made the pod as the controller made it
   */
  record InPlace(Pod made) implements Way {}
}
