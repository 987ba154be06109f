package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.helm.Chart;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;

/**
 * A store in the volume of a claim, which the chart's pods keep mounted on both nodes. The volume
 * is a folder of this machine, as both nodes are.
 *
 * @param folder with the volume, and the folder of the store on the nodes
 */
record ClaimedVolume(Scenario scenario, String name, Path folder) implements AutoCloseable {

  static ClaimedVolume make(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: the volume is a folder of this machine, which has to be both nodes");
    try {
      Path folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-e2e-claim");
      ClaimedVolume volume = new ClaimedVolume(scenario, scenario.namespace(), folder);
      Files.createDirectory(volume.data());
      volume.apply(volume.objects());
      volume.apply(volume.mountPods());
      new StoreReach(scenario).untilReached(volume.name());
      return volume;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The content of the volume. */
  Path data() {
    return folder.resolve("data");
  }

  /** Where nodes have artifacts before the upload and after the download. */
  Path local() {
    return folder.resolve("local");
  }

  private String system() {
    return scenario.installation().namespace();
  }

  private String objects() {
    return """
    apiVersion: v1
    kind: PersistentVolume
    metadata: {name: %1$s}
    spec:
      capacity: {storage: 1Gi}
      accessModes: [ReadWriteMany]
      persistentVolumeReclaimPolicy: Retain
      storageClassName: ""
      claimRef: {namespace: %2$s, name: %1$s}
      hostPath: {path: %3$s, type: Directory}
    ---
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: %1$s, namespace: %2$s}
    spec:
      accessModes: [ReadWriteMany]
      storageClassName: ""
      volumeName: %1$s
      resources: {requests: {storage: 1Gi}}
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: Role
    metadata: {name: %1$s, namespace: %2$s}
    rules:
    - {apiGroups: [""], resources: [pods], verbs: [list]}
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: RoleBinding
    metadata: {name: %1$s, namespace: %2$s}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %1$s}
    subjects:
    - {kind: ServiceAccount, name: stasis-agent, namespace: %2$s}
    ---
    apiVersion: stasis.dev/v1beta1
    kind: GpuCheckpointStore
    metadata: {name: %1$s}
    spec:
      location: {persistentVolumeClaim: {claimName: %1$s}}
      allowedNamespaces: {names: [%1$s]}
      options: {localPath: %4$s, minFree: 0}
    """
        .formatted(name, system(), data(), local());
  }

  /** The chart's DaemonSet for this store. */
  private String mountPods() {
    Checkout checkout = Checkout.ofThisBuild();
    String yaml =
        new Chart(checkout.root().resolve("helm/stasis"))
            .render(
                "stasis",
                system(),
                Map.of(
                    "image.registry", "stasis.dev",
                    "image.tag", "e2e",
                    "agent.gpuNodeLabel", "",
                    "stores[0].name", name,
                    "stores[0].type", "PersistentVolumeClaim",
                    "stores[0].claimName", name),
                List.of());
    return scenario
        .admin()
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .items()
        .stream()
        .filter(object -> object.getMetadata().getName().equals(daemonSet()))
        .peek(object -> object.getMetadata().setNamespace(system()))
        .map(Serialization::asYaml)
        .collect(Collectors.joining("\n---\n"));
  }

  private String daemonSet() {
    return "stasis-store-" + name;
  }

  /** Deletes the pods that keep the volume mounted, and waits until they are gone. */
  void unmount() {
    new Shell()
        .must(
            "kubectl", "-n", system(), "delete", "daemonset", daemonSet(), "--cascade=foreground");
  }

  /** Mounts the volume again. */
  void mount() {
    apply(mountPods());
    new StoreReach(scenario).untilReached(name);
  }

  private void apply(String objects) {
    Shell.Result result = new Shell().feed(objects, "kubectl", "apply", "-f", "-");
    if (!result.ok()) {
      throw new AssertionError("kubectl apply: " + result.output());
    }
  }

  @Override
  public void close() {
    scenario.admin().resources(GpuCheckpointStore.class).withName(name).delete();
    new Shell()
        .run(
            "kubectl",
            "--namespace",
            system(),
            "delete",
            "--ignore-not-found",
            "daemonset/" + daemonSet(),
            "rolebinding/" + name,
            "role/" + name,
            "persistentvolumeclaim/" + name);
    new Shell().run("kubectl", "delete", "--ignore-not-found", "persistentvolume/" + name);
    new Shell().run("rm", "-rf", folder.toString());
  }
}
