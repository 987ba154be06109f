package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.client.utils.Serialization;
import org.jspecify.annotations.Nullable;

/** A GpuRestore that a scenario applied. */
record RestoreRequest(Scenario scenario, String name)
    implements Request<GpuRestore, GpuRestoreStatus, RestorePhase> {

  /** Applies one of that checkpoint; {@code more} are further lines of its spec. */
  static RestoreRequest apply(Scenario scenario, String name, String checkpoint, String... more) {
    scenario.apply(
        Request.yaml(GpuRestore.class, name, "checkpointRef: {name: " + checkpoint + "}", more));
    return new RestoreRequest(scenario, name);
  }

  @Override
  public Class<GpuRestore> kind() {
    return GpuRestore.class;
  }

  @Override
  public GpuRestoreStatus unseen() {
    return new GpuRestoreStatus();
  }

  @Override
  public @Nullable RestorePhase phase(GpuRestoreStatus status) {
    return status.getPhase();
  }

  GpuRestoreStatus awaitSucceeded() {
    return await(RestorePhase.SUCCEEDED);
  }

  /** Returns the name of the pod in which the workload runs now. */
  static String pod(GpuRestoreStatus status) {
    if (status.getPod() == null || status.getPod().name() == null) {
      throw new AssertionError("no pod in " + Serialization.asYaml(status));
    }
    return status.getPod().name();
  }
}
