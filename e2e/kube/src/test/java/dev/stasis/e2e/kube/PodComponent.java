package dev.stasis.e2e.kube;

/** The pods of a controller: it starts a killed one again by itself. */
final class PodComponent implements Component {

  private final Shell shell;
  private final String namespace;
  private final String labels;
  private final String fields;

  private PodComponent(Shell shell, String namespace, String labels, String fields) {
    this.shell = shell;
    this.namespace = namespace;
    this.labels = labels;
    this.fields = fields;
  }

  static PodComponent operator(Shell shell, String namespace) {
    return new PodComponent(shell, namespace, "app.kubernetes.io/component=operator", "");
  }

  static PodComponent agent(Shell shell, String namespace, String node) {
    return new PodComponent(
        shell, namespace, "app.kubernetes.io/component=agent", "spec.nodeName=" + node);
  }

  @Override
  public void kill() {
    shell.must(
        "kubectl",
        "-n",
        namespace,
        "delete",
        "pod",
        "-l",
        labels,
        "--field-selector=" + fields,
        "--force",
        "--grace-period=0");
  }

  @Override
  public void start() {}

  @Override
  public String log() {
    StringBuilder log = new StringBuilder();
    String[] pods =
        shell
            .run(
                "kubectl",
                "-n",
                namespace,
                "get",
                "pods",
                "-o",
                "name",
                "-l",
                labels,
                "--field-selector=" + fields)
            .output()
            .split("\n");
    for (String pod : pods) {
      log.append(shell.run("kubectl", "-n", namespace, "logs", pod).output());
    }
    return log.toString();
  }
}
