package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Does what was decided on the way to the target, and has it written down. */
@Singleton
class Deeds {

  private final Operations operations;
  private final TargetWork targets;
  private final Events events;
  private final Clock clock;
  private final Orders orders;
  private final Room room;
  private final Ends ends;

  Deeds(
      Operations operations,
      TargetWork targets,
      Events events,
      Room room,
      Ends ends,
      KubernetesClient client,
      Clock clock) {
    this.operations = operations;
    this.targets = targets;
    this.events = events;
    this.room = room;
    this.ends = ends;
    this.clock = clock;
    this.orders = new Orders(new Template(client.getKubernetesSerialization()));
  }

  /**
   * Performs it; {@link Next.Rest} is nothing to do.
   *
   * @param never nodes that are not possible for a target
   * @return whether it only waits
   */
  boolean perform(Next next, View view, Collection<String> never) {
    Ledger ledger = new Ledger(view.migration(), clock);
    if (next instanceof Next.Wait wait) {
      waits(view, wait, ledger);
      ends.mark(view);
      return true;
    } else if (next instanceof Next.Look look) {
      ledger.looks(look.source().pod(), look.source().container());
      order(view, Work.LOOK, orders.look(view, look.source()));
    } else if (next instanceof Next.Make make) {
      return make(view, make, never, ledger);
    } else if (next instanceof Next.Adopt adopt) {
      ledger.adopts(adopt.target(), container(view), List.of());
    } else if (next instanceof Next.Fit fit) {
      order(view, Work.FIT + Math.max(1, view.attempts()), orders.fit(view, fit.target()));
    } else if (next instanceof Next.Another another) {
      another.target().ifPresent(targets::remove);
      ledger.another(another);
    } else if (next instanceof Next.Room asked) {
      room.answer(view, asked.freeze(), ledger);
    } else if (next instanceof Next.Cancel cancel) {
      if (!operations.withdraw(cancel.operation().operation())) {
        operations.cancel(cancel.operation().operation());
      }
    } else if (next instanceof Next.RemoveTarget remove) {
      targets.remove(remove.target());
    } else if (next instanceof Next.Decided decided) {
      order(view, decided.number(), orders.decided(decided));
    } else if (next instanceof Next.Delete delete) {
      order(view, delete.number(), orders.delete(view, delete));
    } else if (!onward(next, view, ledger)) {
      ends.perform(next, view, ledger);
    }
    return false;
  }

  /** One that waits in Pending leaves its turn to another one. */
  private void waits(View view, Next.Wait wait, Ledger ledger) {
    ledger.waits(wait, view);
    told(view.migration(), wait, view.attempts());
    if (wait.phase() == MigrationPhase.PENDING) {
      ends.forget(view.migration());
    }
  }

  /** From the freeze to the proof. */
  private boolean onward(Next next, View view, Ledger ledger) {
    if (next instanceof Next.Freeze freeze) {
      String name = order(view, Work.FREEZE, orders.freeze(view, freeze.source()));
      String node = freeze.source().pod().getSpec().getNodeName();
      String sentence = "the agent of node " + node + " is asked to freeze the pod";
      ledger.ordered(MigrationPhase.FREEZING, name, true, sentence);
      tell(view, Reason.IN_PROGRESS, "the target waits; " + sentence, "freeze");
    } else if (next instanceof Next.Receive receive) {
      String name = order(view, receive.number(), orders.receive(view, receive));
      ledger.ordered(
          phase(receive.artifact()),
          name,
          false,
          "the agent of node " + receive.to() + " is asked to receive it");
    } else if (next instanceof Next.Send send) {
      String name = order(view, send.number(), orders.send(view, send));
      String from = view.sourceAgent().orElseThrow().node();
      String sentence = "the agent of node " + from + " is asked to send it";
      ledger.ordered(phase(send.artifact()), name, true, sentence);
      tell(view, Reason.IN_PROGRESS, sentence, "send " + send.number());
    } else if (next instanceof Next.Restore restore) {
      String node = restore.target().getSpec().getNodeName();
      String name = order(view, view.attempts(), orders.restore(view, restore));
      String sentence = "the agent of node " + node + " is asked to restore it";
      ledger.ordered(MigrationPhase.RESTORING, name, false, sentence);
      tell(view, Reason.IN_PROGRESS, sentence, "restore");
    } else {
      return false;
    }
    ends.mark(view);
    return true;
  }

  private static MigrationPhase phase(Optional<ArtifactStatus> artifact) {
    return artifact.isPresent() ? MigrationPhase.TRANSFERRING : MigrationPhase.TARGET_STARTING;
  }

  private String order(View view, int number, GpuNodeOperationSpec spec) {
    GpuNodeOperation operation = operations.draft(Orders.requester(view.migration()), number, spec);
    operations.create(operation);
    return operation.getMetadata().getName();
  }

  private boolean make(View view, Next.Make make, Collection<String> never, Ledger ledger) {
    TargetWork.Made made = targets.make(view, make, never);
    if (made instanceof TargetWork.Is is) {
      ledger.adopts(is.pod(), make.source().container(), is.others());
      tell(
          view,
          Reason.TARGET_STARTING,
          "made pod " + is.pod().getMetadata().getName() + "; the source runs on",
          "attempt " + (view.attempts() + 1));
    } else if (made instanceof TargetWork.Later later) {
      waits(view, new Next.Wait(MigrationPhase.PENDING, later.reason(), later.sentence()), ledger);
      return true;
    } else if (made instanceof TargetWork.Never never2) {
      ledger.rollsBack(never2.faults(), view);
    }
    return false;
  }

  /** What somebody may have to do something about is told; what goes on is in the status. */
  private void told(GpuMigration migration, Next.Wait wait, int attempts) {
    String occasion = "waits after attempt " + attempts + " for " + wait.reason();
    switch (wait.reason()) {
      case EVICTION_REFUSED,
          NO_NODE_FITS,
          REFUSED_BY_CLUSTER,
          IMAGE_NOT_AVAILABLE,
          NODE_SILENT,
          TRANSFER_FAILED ->
          events.tell(Story.warning(migration, wait.reason(), wait.sentence(), occasion));
      case TARGET_NOT_SCHEDULED, TOO_MANY_MIGRATIONS, ANOTHER_OPERATION ->
          events.tell(Story.normal(migration, wait.reason(), wait.sentence(), occasion));
      default -> {}
    }
  }

  private void tell(View view, Reason reason, String sentence, String occasion) {
    events.tell(Story.normal(view.migration(), reason, sentence, occasion));
    view.source()
        .ifPresent(
            pod ->
                events.tell(
                    Story.normal(
                        pod,
                        reason,
                        "GpuMigration "
                            + view.migration().getMetadata().getName()
                            + ": "
                            + sentence,
                        view.migration().getMetadata().getUid() + "/" + occasion)));
  }

  private static String container(View view) {
    GpuMigrationStatus status = view.status();
    return Optional.ofNullable(status.getSource())
        .map(source -> Objects.requireNonNullElse(source.container(), ""))
        .orElse("");
  }
}
