package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A store that every node reaches, as one on a network file system. */
record SharedStore(Scenario scenario, String name, Path folder) implements AutoCloseable {

  /** Agents in pods mount it. */
  static final Path PARENT = Path.of("/var/tmp/stasis-e2e-stores");

  static SharedStore make(Scenario scenario) {
    return make(scenario, "");
  }

  /** A store whose artifacts are committed on the node and uploaded to the folder. */
  static SharedStore ofChunks(Scenario scenario) {
    return make(scenario, ", layout: Chunks");
  }

  /** Where nodes have artifacts before the upload and after the download. */
  Path local() {
    return Path.of(folder + "-local");
  }

  private static SharedStore make(Scenario scenario, String layout) {
    try {
      Path folder = Files.createTempDirectory(Files.createDirectories(PARENT), "shared");
      SharedStore store = new SharedStore(scenario, scenario.namespace(), folder);
      scenario.apply(
          """
          apiVersion: stasis.dev/v1beta1
          kind: GpuCheckpointStore
          metadata:
            name: %s
          spec:
            allowedNamespaces:
              names: [%s]
            location: {sharedPath: {path: %s%s}}
            options:
              minFree: 0
          """
                  .formatted(store.name(), scenario.namespace(), folder, layout)
              + (layout.isEmpty() ? "" : "    localPath: " + store.local() + "\n"));
      new StoreReach(scenario).untilReached(store.name());
      return store;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    scenario.admin().resources(GpuCheckpointStore.class).withName(name).delete();
    // What a scenario has left in it is as big as its workloads. An agent may still write there.
    new Shell().run("rm", "-rf", folder.toString(), local().toString());
  }
}
