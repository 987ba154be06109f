package dev.stasis.operator.operation;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.trace.SpanContext;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/** Stores operations as objects in the API server. */
@Singleton
public class ClusterOperations implements Operations {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final KubernetesClient client;
  private final Informers informers;
  private final String namespace;
  private final boolean traced;

  /** New operations are added to the informers immediately. */
  public ClusterOperations(KubernetesClient client, Informers informers, StasisConfig config) {
    this.client = client;
    this.informers = informers;
    this.namespace = config.namespace();
    this.traced = config.tracesEndpoint().isPresent();
  }

  @Override
  public GpuNodeOperation draft(ObjectReference requester, int number, GpuNodeOperationSpec spec) {
    spec.setRequester(requester);
    RequesterKind kind =
        Arrays.stream(RequesterKind.values())
            .filter(known -> known.kind().equals(requester.kind()))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("requester: " + requester));
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(namespace)
            .withName(new OperationName(kind, requester.uid(), spec.getType(), number).text())
            .addToLabels(Api.NODE_LABEL, spec.getNodeName())
            .addToLabels(Api.OPERATION_UID_LABEL, requester.uid())
            .addToFinalizers(Api.FINALIZER)
            .addToAnnotations(trace(requester))
            .build());
    operation.setSpec(spec);
    return operation;
  }

  /** Sets the parent span of the agent's spans; none if traces are not exported. */
  private Map<String, String> trace(ObjectReference requester) {
    return traced
        ? Map.of(
            Api.TRACEPARENT_ANNOTATION,
            SpanContext.of(requester.uid(), requester.kind()).traceparent())
        : Map.of();
  }

  @Override
  public void create(GpuNodeOperation operation) {
    try {
      informers.made(client.resource(operation).create());
    } catch (KubernetesClientException e) {
      if (!RefusedCreates.isNameTaken(e)) {
        throw e;
      }
      // Created by the previous reconciliation, and the watch has not shown it yet.
      Optional.ofNullable(handle(operation).get()).ifPresent(informers::made);
    }
  }

  @Override
  public void cancel(GpuNodeOperation operation) {
    patch(operation, "{\"spec\":{\"cancel\":true}}");
  }

  @Override
  public void release(GpuNodeOperation operation) {
    if (OperationView.of(operation).isFinal()) {
      abandon(operation);
    } else {
      handle(operation).delete();
    }
  }

  @Override
  public boolean withdraw(GpuNodeOperation operation) {
    if (OperationView.of(operation).isClaimed()) {
      return false;
    }
    try {
      // The version that was read as unclaimed: a claim in between causes a conflict.
      client.resource(operation).lockResourceVersion().delete();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return false;
      }
      throw e;
    }
    patch(operation, "{\"metadata\":{\"finalizers\":null}}");
    informers.letGo(operation);
    return true;
  }

  @Override
  public void abandon(GpuNodeOperation operation) {
    patch(operation, "{\"metadata\":{\"finalizers\":null}}");
    handle(operation).delete();
    informers.letGo(operation);
  }

  /** An operation that is already gone is the desired state. */
  private void patch(GpuNodeOperation operation, String patch) {
    try {
      client.resource(named(operation)).patch(MERGE, patch);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  /** Without an object the client would read it from the API server before each patch. */
  private GpuNodeOperation named(GpuNodeOperation operation) {
    GpuNodeOperation named = new GpuNodeOperation();
    named.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(namespace)
            .withName(operation.getMetadata().getName())
            .build());
    return named;
  }

  private Resource<GpuNodeOperation> handle(GpuNodeOperation operation) {
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(namespace)
        .withName(operation.getMetadata().getName());
  }
}
