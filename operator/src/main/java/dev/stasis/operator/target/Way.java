package dev.stasis.operator.target;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;

/** How the target is created, depending on the source's controller. */
public sealed interface Way {

  /**
   * The operator creates it; no controller would create another pod.
   *
   * @param ownerGone whether the source's controller was deleted
   */
  record Alone(boolean ownerGone) implements Way {}

  /**
   * The operator creates it while the source's controller exists: without owner reference and
   * without the controller's selector labels, because the controller would delete it immediately
   * otherwise. It gets both at the switch-over.
   *
   * @param selectorKeys keys of the controller's selector
   */
  record Apart(Set<String> selectorKeys) implements Way {
    public Apart {
      selectorKeys = Set.copyOf(selectorKeys);
    }
  }

  /**
   * The pod that the controller creates in the source's place becomes the target during its
   * admission, and is held by a scheduling gate.
   *
   * @param made the pod as the controller created it
   */
  record InPlace(Pod made) implements Way {}
}
