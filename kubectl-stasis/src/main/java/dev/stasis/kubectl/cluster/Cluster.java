package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;

/**
 * The plugin's requests to a cluster.
 *
 * <p>Every call throws a {@link ClusterFailure} if the cluster refuses or does not answer.
 */
public interface Cluster {

  /** Returns all objects of some kinds. */
  List<Resource> list(List<Kind> kinds, Scope scope, String... options);

  /** Returns one object; empty if it does not exist. */
  Optional<Resource> find(Kind kind, Scope scope, String name);

  /** Creates an object, and returns the created version. */
  Resource create(Scope scope, JsonNode object, boolean dryRun);

  /** Merges a patch into an object. */
  Resource patch(Kind kind, Scope scope, String name, JsonNode patch);

  /** Deletes an object; succeeds if it is gone. Does not wait for its end. */
  void delete(Kind kind, Scope scope, String name);

  /** Watches one object: returns its current state and every change. */
  Watching watch(Kind kind, Scope scope, String name);

  /**
   * Watches all objects of some kinds: returns each change, and the last state of a deleted object.
   *
   * @param known objects whose current state is not returned again
   */
  Watching watch(List<Kind> kinds, Scope scope, List<Resource> known, String... options);

  /** Returns all log lines of a pod. */
  List<String> log(String namespace, String pod, String since);

  /** Returns the API server's answer for a path. */
  String raw(String path);

  /** Lets kubectl print objects of some kinds, as JSON or YAML. */
  String print(List<String> what, Scope scope, String format);
}
