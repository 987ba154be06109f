package dev.stasis.helm;

import com.marcnuri.helm.Helm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A chart in a folder. */
public final class Chart {
  /** The library would say 1.20 of itself, which the chart refuses. */
  private static final String KUBERNETES = "1.36.0";

  private final Path folder;

  /**
   * @param folder the one with the Chart.yaml
   * @throws IllegalArgumentException when there is none
   */
  public Chart(Path folder) {
    if (!Files.isRegularFile(folder.resolve("Chart.yaml"))) {
      throw new IllegalArgumentException(
          "chart: expected a folder with a Chart.yaml, got " + folder);
    }
    this.folder = folder;
  }

  /**
   * The manifests of a release, as {@code helm template} prints them.
   *
   * @param release name of the release
   * @param namespace where it would be installed
   * @param values by dotted names, as {@code --set} takes them
   * @param files values in files, the later ones win
   * @throws IllegalStateException with helm's own sentence when it refuses
   */
  public String render(
      String release, String namespace, Map<String, String> values, List<Path> files) {
    var command =
        new Helm(folder)
            .template()
            .withName(release)
            .withNamespace(namespace)
            .withKubeVersion(KUBERNETES);
    files.forEach(command::withValuesFile);
    values.forEach(command::set);
    return command.call();
  }

  /** What {@code helm lint --strict} finds wrong; empty when nothing. */
  public List<String> lint() {
    var result = new Helm(folder).lint().strict().quiet().call();
    return result.isFailed() ? result.getMessages() : List.of();
  }
}
