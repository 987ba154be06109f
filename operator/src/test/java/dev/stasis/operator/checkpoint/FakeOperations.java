package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;

/** Drafts orders; the {@link World} gives them. */
final class FakeOperations implements Operations {

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
            .build());
    operation.setSpec(spec);
    return operation;
  }

  @Override
  public void create(GpuNodeOperation operation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void cancel(GpuNodeOperation operation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void release(GpuNodeOperation operation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean withdraw(GpuNodeOperation operation) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void abandon(GpuNodeOperation operation) {
    throw new UnsupportedOperationException();
  }
}
