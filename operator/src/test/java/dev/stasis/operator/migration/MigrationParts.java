package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.testing.TestOperator.Parts;
import dev.stasis.operator.workflow.FlowPage;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class MigrationParts {

  private MigrationParts() {}

  /** Returns the steps of both orders, for the documentation. */
  public static String flow() {
    MigrationFakes fakes = new MigrationFakes();
    return String.join(
        "\n",
        FlowPage.section("GpuMigration, Live", fakes.targetFirst().steps()),
        FlowPage.section("GpuMigration, Recreate", fakes.sourceFirst(fakes.objects()).steps()));
  }

  public static Reconciler<GpuMigration> reconciler(Parts parts) {
    Targets pods = new Targets(parts.client());
    Adoption adoption =
        new Adoption(
            parts.client(), new Departure(parts.client(), TestWebhooks.config("no-such-webhooks")));
    MigrationTargets targets =
        new MigrationTargets(
            parts.informers(),
            new TargetPods(parts.informers(), pods),
            adoption,
            parts.client(),
            parts.config());
    Throttle throttle = new Throttle(parts.informers(), parts.config());
    MigrationOperations operations = new MigrationOperations(parts.operations(), parts.client());
    MigrationHeadroom headroom = new MigrationHeadroom(parts.informers(), parts.pods(), operations);
    MigrationReporter reporter =
        new MigrationReporter(parts.pods(), parts.events(), parts.metrics(), parts.tally());
    FinishedMigration finished =
        new FinishedMigration(operations, headroom, reporter, parts.client(), parts.config());
    SourceFirstObjects objects = new SourceFirstObjects(parts.client(), parts.informers());
    return new MigrationReconciler(
        new MigrationObserver(
            parts.informers(),
            parts.pods(),
            throttle,
            objects,
            targets,
            adoption,
            parts.client(),
            parts.config(),
            parts.clock()),
        new TargetFirstMigration(
            operations,
            targets,
            headroom,
            reporter,
            finished,
            throttle,
            parts.pods(),
            pods,
            adoption,
            parts.config()),
        new SourceFirstMigration(
            operations,
            objects,
            parts.informers(),
            reporter,
            finished,
            throttle,
            parts.pods(),
            parts.config()),
        new WakeUps(parts.informers(), parts.operationSource(), parts.clock()),
        parts.changes(),
        parts.config(),
        new SkewGuard(parts.events()),
        parts.clock());
  }
}
