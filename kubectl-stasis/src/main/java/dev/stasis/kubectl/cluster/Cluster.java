package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;

/**
 * What the plugin asks of a cluster.
 *
 * <p>Every call ends with a {@link ClusterFailure} when the cluster refuses or does not answer.
 */
public interface Cluster {

  /** All objects of some kinds. */
  List<Resource> list(List<Kind> kinds, Scope scope, String... options);

  /** One object; empty when there is none of that name. */
  Optional<Resource> find(Kind kind, Scope scope, String name);

  /** Makes an object, and returns it as it was made. */
  Resource create(Scope scope, JsonNode object, boolean dryRun);

  /** Merges a patch into an object. */
  Resource patch(Kind kind, Scope scope, String name, JsonNode patch);

  /** Deletes an object; one that is gone is no failure. Does not wait for its end. */
  void delete(Kind kind, Scope scope, String name);

  /** One object from now on, as it is and whenever it changes. */
  Watching watch(Kind kind, Scope scope, String name);

  /** What a pod wrote to its log since it began, a line each. */
  List<String> log(String namespace, String pod, String since);

  /** What the API server says of itself at a path. */
  String raw(String path);

  /** Lets kubectl print some kinds, as json or yaml. */
  String print(List<String> what, Scope scope, String format);
}
