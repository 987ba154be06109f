package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.Kubectl;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What every command has: a way to the cluster, a place for its output, and the time.
 *
 * @param cluster makes the way to the cluster, of options of kubectl
 */
record Session(
    Function<List<String>, Cluster> cluster, Terminal terminal, Clock clock, ObjectMapper mapper) {

  /** Of this process. */
  static Session ofProcess(Map<String, String> environment) {
    ObjectMapper mapper = new ObjectMapper();
    String kubectl = environment.getOrDefault("KUBECTL", "kubectl");
    return new Session(
        options -> new Kubectl(kubectl, options, mapper),
        Terminal.ofProcess(environment),
        Clock.systemUTC(),
        mapper);
  }
}
