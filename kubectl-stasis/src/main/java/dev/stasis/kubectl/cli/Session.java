package dev.stasis.kubectl.cli;

import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.JsonReader;
import dev.stasis.kubectl.cluster.Kubectl;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The dependencies of every command: the cluster, the output, and the clock.
 *
 * @param cluster creates the connection from kubectl's options
 */
record Session(
    Function<List<String>, Cluster> cluster, Terminal terminal, Clock clock, JsonReader json) {

  /** The session of this process. */
  static Session ofProcess(Map<String, String> environment) {
    JsonReader json = new JsonReader();
    String kubectl = environment.getOrDefault("KUBECTL", "kubectl");
    return new Session(
        options -> new Kubectl(kubectl, options, json),
        Terminal.ofProcess(environment),
        Clock.systemUTC(),
        json);
  }
}
