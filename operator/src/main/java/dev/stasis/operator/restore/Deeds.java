package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.RestoreTimings;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.metric.Tally;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.Mark;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Does what was decided, and has it written down. */
@Singleton
class Deeds {

  private final Operations operations;
  private final PodWrites pods;
  private final TargetWork targets;
  private final Events events;
  private final StasisMetrics metrics;
  private final Tally tally;
  private final Clock clock;
  private final Orders orders = new Orders();

  Deeds(
      Operations operations,
      PodWrites pods,
      TargetWork targets,
      Events events,
      StasisMetrics metrics,
      Tally tally,
      Clock clock) {
    this.operations = operations;
    this.pods = pods;
    this.targets = targets;
    this.events = events;
    this.metrics = metrics;
    this.tally = tally;
    this.clock = clock;
  }

  /**
   * Performs it; {@link Next.Rest} is nothing to do.
   *
   * @return whether it only waits, for something without a watch
   */
  boolean perform(Next next, View view) {
    GpuRestore restore = view.restore();
    Ledger ledger = new Ledger(restore, clock);
    if (next instanceof Next.Wait wait) {
      ledger.waits(wait, view);
      told(restore, wait, view.attempts());
    } else if (next instanceof Next.Make make) {
      return make(view, make.source(), ledger);
    } else if (next instanceof Next.Adopt adopt) {
      ledger.adopts(adopt.target(), container(view), List.of());
    } else if (next instanceof Next.Order order) {
      order(view, order, ledger);
    } else if (next instanceof Next.Prove prove) {
      prove(view, prove, ledger);
    } else if (next instanceof Next.Fail fail) {
      ledger.fails(fail.faults(), view);
      Verdict verdict = new Verdict(fail.faults());
      warn(restore, verdict.reason(), verdict.sentence(), "attempt " + view.attempts());
    } else if (next instanceof Next.Cancel cancel) {
      if (!operations.withdraw(cancel.operation().operation())) {
        operations.cancel(cancel.operation().operation());
      }
    } else if (next instanceof Next.Abandon abandon) {
      operations.abandon(abandon.operation().operation());
    } else if (next instanceof Next.Remove remove) {
      targets.remove(remove.target());
    } else {
      return over(next, view, ledger);
    }
    return false;
  }

  private boolean over(Next next, View view, Ledger ledger) {
    GpuRestore restore = view.restore();
    if (next instanceof Next.Again again) {
      view.operation().map(OperationView::operation).ifPresent(operations::release);
      ledger.again(again.verdict());
    } else if (next instanceof Next.ColdStart cold) {
      return coldStart(view, cold.verdict(), ledger);
    } else if (next instanceof Next.Give give) {
      ledger.gives(give.verdict());
      counts(restore, RestorePhase.FAILED, give.verdict().reason(), () -> {});
      warn(
          restore,
          give.verdict().reason(),
          "failed, the checkpoint is as it was: " + give.verdict().sentence(),
          "end");
    } else if (next instanceof Next.Cancelled) {
      ledger.cancelled();
      counts(restore, RestorePhase.CANCELLED, Reason.CANCELLED, () -> {});
      tell(restore, Reason.CANCELLED, "cancelled; no target is left", "end");
    }
    return false;
  }

  private boolean make(View view, Source.Ready source, Ledger ledger) {
    TargetWork.Made made = targets.target(view, source);
    if (made instanceof TargetWork.Pods pod) {
      ledger.adopts(pod.pod(), source.container(), pod.others());
      String notes = pod.notes().isEmpty() ? "" : "; " + String.join(", ", pod.notes());
      tell(
          view.restore(),
          Reason.TARGET_STARTING,
          "made pod " + pod.pod().getMetadata().getName() + notes,
          "attempt " + (view.attempts() + 1));
    } else if (made instanceof TargetWork.Later later) {
      Next.Wait wait = new Next.Wait(RestorePhase.PENDING, later.reason(), later.sentence());
      ledger.waits(wait, view);
      told(view.restore(), wait, view.attempts());
      return true;
    } else if (made instanceof TargetWork.Never never) {
      ledger.fails(never.faults(), view);
    }
    return false;
  }

  private void order(View view, Next.Order order, Ledger ledger) {
    GpuNodeOperation operation =
        operations.draft(
            orders.requester(view.restore()),
            view.attempts(),
            orders.restore(
                view.restore(), order.source(), order.target(), order.holding(), view.now()));
    operations.create(operation);
    ledger.ordered(operation.getMetadata().getName(), order.target());
    tell(
        view.restore(),
        Reason.IN_PROGRESS,
        "the holder runs; node " + order.target().getSpec().getNodeName() + " restores into it",
        "attempt " + view.attempts());
  }

  /** The gate first: an operator that dies now finds all of it again. */
  private void prove(View view, Next.Prove prove, Ledger ledger) {
    GpuRestore restore = view.restore();
    String from = "GpuRestore " + restore.getMetadata().getName();
    pods.condition(
        prove.target(), Mark.restored(true, Reason.PROVEN.word(), "restored by " + from));
    boolean raised =
        view.source() instanceof Source.Ready source && targets.raised(source).isPresent();
    String container =
        Objects.requireNonNull(prove.operation().operation().getSpec().getPod()).containerName();
    ledger.proven(prove, container, raised);
    String message = restore.getStatus().getMessage() + took(restore.getStatus().getTimings());
    tell(restore, Reason.PROVEN, message, "end");
    Pod pod = prove.target();
    events.tell(
        Story.normal(pod, Reason.PROVEN, from + ": " + message, restore.getMetadata().getUid()));
    counts(
        restore,
        RestorePhase.SUCCEEDED,
        Reason.PROVEN,
        () -> timings(restore.getStatus().getTimings(), prove.operation()));
  }

  private void counts(GpuRestore restore, RestorePhase end, Reason reason, Runnable figures) {
    tally.onceWritten(
        restore,
        end.word(),
        () -> {
          metrics.ended(RequesterKind.RESTORE.kind(), end.word(), reason.word());
          figures.run();
        });
  }

  private void timings(@Nullable RestoreTimings timings, OperationView operation) {
    if (timings == null) {
      return;
    }
    String kind = RequesterKind.RESTORE.kind();
    String path =
        operation.status().getDataPath() == null ? "" : operation.status().getDataPath().word();
    if (timings.getTookMilliseconds() != null) {
      metrics.proven(Duration.ofMillis(timings.getTookMilliseconds()));
    }
    step(kind, "layer", path, timings.getLayerMilliseconds());
    step(kind, "restore", path, timings.getRestoreMilliseconds());
    step(kind, "fill", path, timings.getFillMilliseconds());
    step(kind, "gpuRestore", path, timings.getGpuRestoreMilliseconds());
  }

  private void step(String kind, String step, String path, @Nullable Long milliseconds) {
    if (milliseconds != null) {
      metrics.step(kind, step, path, Duration.ofMillis(milliseconds));
    }
  }

  private boolean coldStart(View view, Verdict verdict, Ledger ledger) {
    GpuRestore restore = view.restore();
    if (!(view.source() instanceof Source.Ready source)) {
      ledger.gives(verdict);
      counts(restore, RestorePhase.FAILED, verdict.reason(), () -> {});
      warn(restore, verdict.reason(), "nothing to start: " + verdict.sentence(), "end");
      return false;
    }
    TargetWork.Made made = targets.coldStart(view, source);
    if (made instanceof TargetWork.Pods pod) {
      ledger.coldStarted(pod.pod(), source.container(), verdict);
      counts(restore, RestorePhase.COLD_STARTED, verdict.reason(), metrics::coldStart);
      String sentence =
          "pod "
              + pod.pod().getMetadata().getName()
              + " started from its image, since: "
              + verdict.sentence();
      warn(restore, Reason.COLD_STARTED, sentence, "end");
      events.tell(
          Story.warning(pod.pod(), Reason.COLD_STARTED, sentence, restore.getMetadata().getUid()));
    } else if (made instanceof TargetWork.Later later) {
      Next.Wait wait =
          new Next.Wait(view.phase(), later.reason(), "cold start: " + later.sentence());
      ledger.waits(wait, view);
      told(restore, wait, view.attempts());
      return true;
    }
    return false;
  }

  /** What somebody may have to do something about is told; what goes on is in the status. */
  private void told(GpuRestore restore, Next.Wait wait, int attempts) {
    String occasion = "waits after attempt " + attempts;
    switch (wait.reason()) {
      case NO_NODE_FITS, REFUSED_BY_CLUSTER, IMAGE_NOT_AVAILABLE, TARGET_TAKEN ->
          warn(restore, wait.reason(), wait.sentence(), occasion);
      // A controller takes a second or two for its next pod.
      case WAITING_FOR_CHECKPOINT, TARGET_NOT_SCHEDULED, OWNER_LIVES ->
          tell(restore, wait.reason(), wait.sentence(), occasion);
      default -> {}
    }
  }

  private static String container(View view) {
    return view.source() instanceof Source.Ready source ? source.container() : "";
  }

  private static String took(@Nullable RestoreTimings timings) {
    return timings == null || timings.getTook() == null ? "" : " after " + timings.getTook();
  }

  private void tell(GpuRestore restore, Reason reason, String message, String occasion) {
    events.tell(Story.normal(restore, reason, message, occasion));
  }

  private void warn(GpuRestore restore, Reason reason, String message, String occasion) {
    events.tell(Story.warning(restore, reason, message, occasion));
  }
}
