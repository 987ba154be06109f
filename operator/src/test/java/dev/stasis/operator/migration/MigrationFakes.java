package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.metric.CompletionMetrics;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.TestConfig;
import dev.stasis.operator.testing.Unconnected;
import dev.stasis.operator.workflow.Workflow;
import dev.stasis.operator.workflow.WorkflowRunner;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Records what the steps of a migration do, instead of an API server. */
final class MigrationFakes {

  /** Connects to nothing; making one takes half a second. */
  private static final KubernetesClient CLIENT = new KubernetesClientBuilder().build();

  private static final CompletionMetrics COMPLETIONS =
      new CompletionMetrics(Unconnected.informers());

  /** Every act, in order. */
  final List<Next> acts = new ArrayList<>();

  /** The operations whose deletion was requested, and those that were deleted unfinished. */
  final List<GpuNodeOperation> released = new ArrayList<>();

  final List<GpuNodeOperation> abandoned = new ArrayList<>();

  private final TestConfig config = TestConfig.usual();
  private final FakeCluster cluster = new FakeCluster();
  private final Operations operations = new RecordedOperations();
  private final MigrationOperations drafts = new MigrationOperations(operations, CLIENT);
  private final PodWrites pods = new RecordedPods();
  private final Throttle throttle = new Throttle(cluster, config);
  private final Adoption adoption = new RecordedAdoption();
  private final MigrationReporter reporter =
      new MigrationReporter(
          pods, story -> true, new StasisMetrics(new SimpleMeterRegistry()), COMPLETIONS);
  private final MigrationHeadroom headroom = new MigrationHeadroom(cluster, pods, drafts);
  final FinishedMigration finished =
      new FinishedMigration(drafts, headroom, reporter, CLIENT, config);

  Workflow<MigrationContext, MigrationPhase> targetFirst() {
    return new TargetFirstMigration(
        drafts,
        new RecordedTargets(),
        headroom,
        reporter,
        finished,
        throttle,
        pods,
        new Targets(CLIENT),
        adoption,
        config);
  }

  Workflow<MigrationContext, MigrationPhase> sourceFirst(SourceFirstObjects objects) {
    return new SourceFirstMigration(
        drafts, objects, cluster, reporter, finished, throttle, pods, config);
  }

  /** Returns objects whose creation is recorded. */
  SourceFirstObjects objects() {
    return new SourceFirstObjects(CLIENT, cluster) {

      @Override
      Optional<String> save(MigrationContext context, Check.Admitted source) {
        acts.add(new Next.Save());
        return Optional.empty();
      }
    };
  }

  KubernetesClient client() {
    return CLIENT;
  }

  WorkflowRunner<MigrationContext, MigrationPhase> runner(
      Workflow<MigrationContext, MigrationPhase> workflow) {
    return new WorkflowRunner<>(workflow, config);
  }

  private final class RecordedTargets extends MigrationTargets {

    RecordedTargets() {
      super(cluster, new TargetPods(cluster, new Targets(CLIENT)), adoption, CLIENT, config);
    }

    @Override
    TargetPods.Result create(MigrationContext context, Check.Admitted source) {
      acts.add(new Next.Make());
      return new TargetPods.Created(Moving.pod("trainer-x", "target-uid", "there", "none"));
    }

    @Override
    void remove(Pod pod) {
      acts.add(new Next.RemoveTarget());
    }
  }

  private final class RecordedAdoption extends Adoption {

    RecordedAdoption() {
      super(CLIENT, new Departure(CLIENT, TestWebhooks.config("no-such-webhooks")));
    }

    @Override
    public String step(Pod was, Optional<Pod> source, Pod target, OwnerReference owner) {
      acts.add(new Next.HandOver());
      return "the controller takes it";
    }
  }

  private final class RecordedPods implements PodWrites {

    @Override
    public Optional<Pod> fresh(String namespace, String name) {
      return Optional.empty();
    }

    @Override
    public void condition(Pod pod, PodConditionUpdate mark) {}

    @Override
    public Answer resize(Pod resized, boolean dryRun) {
      throw new AssertionError("nothing is resized here");
    }

    @Override
    public Answer evict(Pod pod, boolean dryRun) {
      if (!dryRun) {
        acts.add(new Next.RemoveSource());
      }
      return new Accepted();
    }
  }

  private final class RecordedOperations implements Operations {

    @Override
    public GpuNodeOperation draft(
        ObjectReference requester, int number, GpuNodeOperationSpec spec) {
      GpuNodeOperation operation = new GpuNodeOperation();
      operation
          .getMetadata()
          .setName(
              new OperationName(RequesterKind.MIGRATION, requester.uid(), spec.getType(), number)
                  .text());
      operation.setSpec(spec);
      return operation;
    }

    @Override
    public void create(GpuNodeOperation operation) {
      GpuNodeOperationSpec spec = operation.getSpec();
      int number = OperationView.of(operation).number();
      acts.add(
          switch (spec.getType()) {
            case CHECKPOINT ->
                number == Work.LOOK ? new Next.WorkloadInspector() : new Next.Freeze();
            case RESTORE -> number > Work.FIT ? new Next.Fit() : new Next.Restore();
            case RECEIVE -> new Next.Receive(number, artifact(spec), spec.getNodeName());
            case SEND ->
                new Next.Send(
                    number,
                    artifact(spec),
                    Objects.requireNonNull(
                        Objects.requireNonNull(spec.getTransfer()).getPeer().address()));
            case DELETE_ARTIFACT -> new Next.Delete(number, spec.getNodeName());
            default -> new Next.Decided(spec.getType(), number);
          });
    }

    private static Optional<ArtifactStatus> artifact(GpuNodeOperationSpec spec) {
      if (Boolean.TRUE.equals(Objects.requireNonNull(spec.getTransfer()).getAhead())) {
        return Optional.empty();
      }
      ArtifactStatus artifact = new ArtifactStatus();
      artifact.setSha256(Objects.requireNonNull(spec.getArtifact()).sha256());
      return Optional.of(artifact);
    }

    @Override
    public void cancel(GpuNodeOperation operation) {
      acts.add(new Next.Cancel(OperationView.of(operation)));
    }

    @Override
    public boolean withdraw(GpuNodeOperation operation) {
      return false;
    }

    @Override
    public void release(GpuNodeOperation operation) {
      released.add(operation);
    }

    @Override
    public void abandon(GpuNodeOperation operation) {
      abandoned.add(operation);
    }
  }
}
