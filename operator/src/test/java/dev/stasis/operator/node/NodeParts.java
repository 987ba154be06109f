package dev.stasis.operator.node;

import dev.stasis.operator.testing.TestOperator.Parts;
import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class NodeParts {

  private NodeParts() {}

  public static Reconciler<Node> reconciler(Parts parts) {
    return new NodeLabelReconciler(parts.informers(), parts.clock());
  }
}
