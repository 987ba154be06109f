package dev.stasis.operator.node;

import dev.stasis.operator.cluster.NamesOnly;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** Nodes as the one who writes their labels has to know them. */
public final class LabelsOnly extends NamesOnly<Node> {

  /** For the framework, which makes it by its class. */
  public LabelsOnly() {
    super(Node::new);
  }

  @Override
  protected void more(ObjectMeta of, ObjectMeta kept) {
    kept.setLabels(of.getLabels());
  }
}
