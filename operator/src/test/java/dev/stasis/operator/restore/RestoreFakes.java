package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.metric.CompletionMetrics;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.TestConfig;
import dev.stasis.operator.testing.Unconnected;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Records what the steps of a restore do, instead of an API server. */
final class RestoreFakes {

  /** Connects to nothing; making one takes half a second. */
  static final KubernetesClient CLIENT = new KubernetesClientBuilder().build();

  private static final CompletionMetrics TALLY = new CompletionMetrics(Unconnected.informers());

  /** Every action, in order. */
  final List<String> actions = new ArrayList<>();

  final TestConfig config = TestConfig.usual();
  Supplier<Pod> onCreateTarget = () -> Examples.pod("ml", "trainer");
  Runnable onRemoveTarget = () -> {};
  Runnable onCreateOperation = () -> {};
  Runnable onRelease = () -> {};
  @Nullable GpuNodeOperation created;
  final FakeCluster cluster = new FakeCluster();

  RestoreWorkflow workflow() {
    RestoreReporter reporter =
        new RestoreReporter(story -> true, new StasisMetrics(new SimpleMeterRegistry()), TALLY);
    PodWrites pods = new FakePods();
    return new RestoreWorkflow(
        cluster,
        new FakeOperations(),
        pods,
        new FakeTargets(),
        new RestoredPod(cluster, pods, reporter, CLIENT, config),
        reporter);
  }

  private final class FakeTargets extends RestoreTargets {

    FakeTargets() {
      super(cluster, new Targets(CLIENT), new TargetPods(cluster, new Targets(CLIENT)), config);
    }

    @Override
    TargetPods.Result create(RestoreContext context) {
      actions.add("create target");
      return new TargetPods.Created(onCreateTarget.get());
    }

    @Override
    TargetPods.Result coldStart(RestoreContext context, Source.Ready source) {
      actions.add("cold start");
      return new TargetPods.Created(Examples.pod("ml", "trainer"));
    }

    @Override
    void remove(Pod pod) {
      actions.add("remove " + pod.getMetadata().getName());
      onRemoveTarget.run();
    }
  }

  private final class FakeOperations implements Operations {

    @Override
    public GpuNodeOperation draft(
        ObjectReference requester, int number, GpuNodeOperationSpec spec) {
      GpuNodeOperation operation = new GpuNodeOperation();
      operation
          .getMetadata()
          .setName(
              new OperationName(RequesterKind.RESTORE, requester.uid(), spec.getType(), number)
                  .text());
      operation.getMetadata().setLabels(Map.of(Api.OPERATION_UID_LABEL, requester.uid()));
      operation.setSpec(spec);
      return operation;
    }

    @Override
    public void create(GpuNodeOperation operation) {
      record("create", operation);
      created = operation;
      onCreateOperation.run();
    }

    @Override
    public void cancel(GpuNodeOperation operation) {
      record("cancel", operation);
    }

    @Override
    public void release(GpuNodeOperation operation) {
      record("release", operation);
      onRelease.run();
    }

    @Override
    public boolean withdraw(GpuNodeOperation operation) {
      if (OperationView.of(operation).isClaimed()) {
        return false;
      }
      record("withdraw", operation);
      return true;
    }

    @Override
    public void abandon(GpuNodeOperation operation) {
      record("abandon", operation);
    }

    private void record(String action, GpuNodeOperation operation) {
      actions.add(action + " " + operation.getMetadata().getName());
    }
  }

  private final class FakePods implements PodWrites {

    @Override
    public Optional<Pod> fresh(String namespace, String name) {
      return Optional.empty();
    }

    @Override
    public void condition(Pod pod, PodConditionUpdate mark) {
      actions.add("condition of " + pod.getMetadata().getName());
    }

    @Override
    public Answer resize(Pod resized, boolean dryRun) {
      throw new AssertionError("nothing is resized here");
    }

    @Override
    public Answer evict(Pod pod, boolean dryRun) {
      throw new AssertionError("a restore evicts no pod");
    }
  }
}
