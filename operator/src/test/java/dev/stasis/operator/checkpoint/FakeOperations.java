package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;

/** Drafts operations, and records what is to be done with them; the {@link World} does it. */
final class FakeOperations implements Operations {

  private final List<Act> acts;

  FakeOperations(List<Act> acts) {
    this.acts = acts;
  }

  @Override
  public GpuNodeOperation draft(ObjectReference requester, int number, GpuNodeOperationSpec spec) {
    GpuNodeOperation operation = new GpuNodeOperation();
    spec.setRequester(requester);
    String name =
        new OperationName(RequesterKind.CHECKPOINT, requester.uid(), spec.getType(), number).text();
    operation.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withUid(name)
            .addToLabels(Api.OPERATION_UID_LABEL, requester.uid())
            .addToLabels(Api.NODE_LABEL, spec.getNodeName())
            .build());
    operation.setSpec(spec);
    return operation;
  }

  @Override
  public void create(GpuNodeOperation operation) {
    acts.add(new Act.Create(operation));
  }

  @Override
  public void cancel(GpuNodeOperation operation) {
    acts.add(new Act.Cancel(operation));
  }

  @Override
  public void release(GpuNodeOperation operation) {
    acts.add(new Act.Release(operation));
  }

  @Override
  public boolean withdraw(GpuNodeOperation operation) {
    acts.add(new Act.Withdraw(operation));
    return true;
  }

  @Override
  public void abandon(GpuNodeOperation operation) {
    acts.add(new Act.Abandon(operation));
  }
}
