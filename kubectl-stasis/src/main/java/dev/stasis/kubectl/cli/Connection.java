package dev.stasis.kubectl.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of kubectl for cluster, user and namespace, with the same names. */
final class Connection {

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAMESPACE",
      description = "namespace; default: the namespace of the context")
  @Nullable String namespace;

  @Option(names = "--context", paramLabel = "NAME", description = "kubeconfig context to use")
  @Nullable String context;

  @Option(names = "--kubeconfig", paramLabel = "FILE", description = "kubeconfig to use")
  @Nullable String kubeconfig;

  @Option(names = "--cluster", paramLabel = "NAME", hidden = true, description = "as kubectl")
  @Nullable String cluster;

  @Option(names = "--user", paramLabel = "NAME", hidden = true, description = "as kubectl")
  @Nullable String user;

  @Option(names = "--token", paramLabel = "TOKEN", hidden = true, description = "as kubectl")
  @Nullable String token;

  @Option(names = "--as", paramLabel = "USER", hidden = true, description = "as kubectl")
  @Nullable String as;

  @Option(names = "--as-group", paramLabel = "GROUP", hidden = true, description = "as kubectl")
  List<String> asGroups = new ArrayList<>();

  @Option(
      names = {"-s", "--server"},
      paramLabel = "URL",
      hidden = true,
      description = "as kubectl")
  @Nullable String server;

  @Option(
      names = "--request-timeout",
      paramLabel = "TIME",
      hidden = true,
      description = "as kubectl")
  @Nullable String requestTimeout;

  /** In kubectl's form. */
  List<String> options() {
    List<String> options = new ArrayList<>();
    add(options, "--namespace", namespace);
    add(options, "--context", context);
    add(options, "--kubeconfig", kubeconfig);
    add(options, "--cluster", cluster);
    add(options, "--user", user);
    add(options, "--token", token);
    add(options, "--as", as);
    asGroups.forEach(group -> add(options, "--as-group", group));
    add(options, "--server", server);
    add(options, "--request-timeout", requestTimeout);
    return options;
  }

  private static void add(List<String> options, String name, @Nullable String value) {
    if (value != null) {
      options.add(name + "=" + value);
    }
  }
}
