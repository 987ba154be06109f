package dev.stasis.e2e.kube;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Values of the chart for nodes that are one machine: only what differs because of that, and
 * because their GPUs are simulated.
 *
 * @param folder of this run
 * @param nodes all of them; the release is that of the first one
 */
record ImageValues(Path folder, List<LocalNode> nodes) {

  /** The folder with the records of the agent of that node. */
  static Path stateOf(Path folder, String node) {
    return Path.of("/run").resolve(folder.getFileName()).resolve(node);
  }

  /** For the agent of that node. */
  Path write(LocalNode node, SimulatedNode gpus) throws IOException {
    return Files.writeString(
        folder.resolve(node.name() + ".values.json"),
        """
        {"image": {"registry": "stasis.dev", "tag": "e2e", "pullPolicy": "Never"},
         "crds": {"known": %s},
         "operator": {"replicas": 1},
         "eviction": {"givenUpAfter": "20s"},
         "webhook": {"timeoutSeconds": 30},
         "defaultStore": {"path": "%s", "minFree": "64Mi"},
         "agent": {
           "gpuNodeLabel": "", "runtimeClassName": "",
           "nodeSelector": {"kubernetes.io/hostname": "%s"},
           "paths": {"kubelet": "%s", "criSocket": "%s", "containerLayers": "%s", "cdi": ["%s"],
             "state": "%s", "memoryStage": "%s", "criu": "%s"},
           "extraEnv": [
             {"name": "STASIS_SIM_GPU", "value": "%s"},
             {"name": "LD_LIBRARY_PATH", "value": "%s"},
             {"name": "STASIS_AGENT_HEARTBEAT_EVERY", "value": "10s"}],
           "extraVolumes": [
             {"name": "gpus", "hostPath": {"path": "%s", "type": "Directory"}},
             {"name": "driver", "hostPath": {"path": "%s", "type": "Directory"}},
             {"name": "shared", "hostPath": {"path": "%s", "type": "DirectoryOrCreate"}}],
           "extraVolumeMounts": [
             {"name": "gpus", "mountPath": "%s"},
             {"name": "driver", "mountPath": "%s", "readOnly": true},
             {"name": "shared", "mountPath": "%s"}]}}
        """
            .formatted(
                // Helm sees by itself whether the kinds are served; a mere rendering does not.
                node != nodes.get(0),
                Commands.storeOf(folder, nodes.get(0)),
                node.name(),
                node.folder().resolve("kubelet"),
                node.criSocket(),
                node.folder().resolve("containerd-root"),
                node.cdi(),
                stateOf(folder, node.name()),
                gpus.folder().resolve("stage"),
                folder.resolve("criu-" + node.name()),
                gpus.folder(),
                gpus.libraries(),
                gpus.folder(),
                gpus.libraries(),
                SharedStore.PARENT,
                gpus.folder(),
                gpus.libraries(),
                SharedStore.PARENT));
  }
}
