package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.operator.admission.TestWebhooks;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class MigrationParts {

  private MigrationParts() {}

  public static Reconciler<GpuMigration> reconciler(Parts parts) {
    Targets pods = new Targets(parts.client());
    Adoption adoption =
        new Adoption(
            parts.client(), new Departure(parts.client(), TestWebhooks.config("no-such-webhooks")));
    TargetWork targets =
        new TargetWork(parts.informers(), pods, adoption, parts.client(), parts.config());
    Throttle throttle = new Throttle(parts.informers(), parts.config());
    Room room = new Room(parts.informers(), parts.pods(), targets);
    Ends ends =
        new Ends(
            parts.pods(),
            pods,
            targets,
            adoption,
            throttle,
            parts.events(),
            parts.metrics(),
            parts.tally());
    return new MigrationReconciler(
        new Observer(
            parts.informers(),
            parts.pods(),
            throttle,
            targets,
            adoption,
            parts.client(),
            parts.config(),
            parts.clock()),
        new EvictionCheck(parts.pods()),
        new Deeds(
            parts.operations(), targets, parts.events(), room, ends, parts.client(), parts.clock()),
        ends,
        room,
        new Relay(
            new RelayObjects(parts.client(), parts.informers()),
            parts.informers(),
            ends,
            parts.events(),
            parts.metrics(),
            parts.config(),
            parts.clock()),
        parts.operations(),
        new WakeUps(parts.informers(), parts.operationSource(), parts.clock()),
        parts.changes(),
        parts.config(),
        parts.clock());
  }
}
