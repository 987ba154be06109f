package dev.stasis.local.kubelet;

import dev.stasis.local.runc.Bundle;
import java.nio.file.Path;

/** The paths of a pod's parts. */
record PodFolder(Path folder) {

  Path volume(String name) {
    return folder.resolve("volumes").resolve(name);
  }

  Path namespaces() {
    return folder.resolve("namespaces");
  }

  Path log(String container, int attempt) {
    return folder.resolve("logs").resolve(container).resolve(attempt + ".log");
  }

  Bundle bundle(String containerId) {
    return new Bundle(folder.resolve("containers").resolve(containerId));
  }
}
