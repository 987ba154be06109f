package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.kubectl.cluster.Cluster;
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
    Function<List<String>, Cluster> cluster, Terminal terminal, Clock clock, ObjectMapper mapper) {

  /** The session of this process. */
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
