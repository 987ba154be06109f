package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the cluster looked like when a scenario failed. */
final class Evidence {

  private final Shell shell;
  private final Path folder;

  Evidence(Shell shell, Path folder) {
    this.shell = shell;
    this.folder = folder;
  }

  void keep(String namespace, String system) {
    write("objects.yaml", "kubectl -n %s get pods,stasis -o yaml".formatted(namespace));
    write("operations.yaml", "kubectl -n %s get gpunodeoperations -o yaml".formatted(system));
    write("nodes.yaml", "kubectl get gpunodes,gpucheckpointstores,nodes -o yaml");
    write(
        "events.txt",
        "kubectl get events -A --sort-by=.lastTimestamp; kubectl -n %s describe pods,stasis"
            .formatted(namespace));
    write(
        "logs.txt",
        ("for p in $(kubectl -n %1$s get pods -o name); do echo == $p;"
                + " kubectl -n %1$s logs $p --all-containers --tail=60; done")
            .formatted(namespace));
  }

  private void write(String file, String script) {
    try {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve(file), shell.run("sh", "-c", script).output());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
