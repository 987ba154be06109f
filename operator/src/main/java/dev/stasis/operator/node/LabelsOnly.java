package dev.stasis.operator.node;

import dev.stasis.operator.cluster.NamesOnly;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** Caches only the labels of nodes. */
public final class LabelsOnly extends NamesOnly<Node> {

  /** Used by the framework, which creates instances by reflection. */
  public LabelsOnly() {
    super(Node::new);
  }

  @Override
  protected void more(ObjectMeta of, ObjectMeta kept) {
    kept.setLabels(of.getLabels());
  }
}
