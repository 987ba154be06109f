package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.ClusterFailure;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import dev.stasis.kubectl.cluster.Watching;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** A cluster of what a test puts into it. */
final class FakeCluster implements Cluster {

  final List<Resource> objects = new ArrayList<>();
  final List<JsonNode> created = new ArrayList<>();
  final List<String> patched = new ArrayList<>();
  final List<String> deleted = new ArrayList<>();

  /** What a watch will see, one after the other. */
  final Deque<Resource> events = new ArrayDeque<>();

  /** The options of each list and watch. */
  final List<List<String>> selections = new ArrayList<>();

  @Override
  public List<Resource> list(List<Kind> kinds, Scope scope, String... options) {
    selections.add(List.of(options));
    return objects.stream()
        .filter(one -> kinds.stream().anyMatch(kind -> kind.value().equals(one.kind())))
        .toList();
  }

  @Override
  public Optional<Resource> find(Kind kind, Scope scope, String name) {
    return list(List.of(kind), scope).stream().filter(one -> one.name().equals(name)).findFirst();
  }

  @Override
  public Resource create(Scope scope, JsonNode object, boolean dryRun) {
    created.add(object);
    ObjectNode made = object.deepCopy();
    ObjectNode metadata = (ObjectNode) made.path("metadata");
    if (metadata.path("name").isMissingNode()) {
      metadata.put("name", metadata.path("generateName").asText() + "x7k2p");
    }
    metadata.put("namespace", "ml");
    return new Resource(made);
  }

  @Override
  public Resource patch(Kind kind, Scope scope, String name, JsonNode patch) {
    patched.add(kind.shortName() + "/" + name + " " + patch);
    return find(kind, scope, name).orElseThrow();
  }

  @Override
  public void delete(Kind kind, Scope scope, String name) {
    deleted.add(kind.shortName() + "/" + name);
  }

  @Override
  public Watching watch(Kind kind, Scope scope, String name) {
    return new Watching() {
      @Override
      public Optional<Resource> next(Duration atMost) {
        return Optional.ofNullable(events.poll());
      }

      @Override
      public void close() {}
    };
  }

  /** Ends as a watch does that has lost its server. */
  @Override
  public Watching watch(List<Kind> kinds, Scope scope, List<Resource> known, String... options) {
    selections.add(List.of(options));
    return new Watching() {
      @Override
      public Optional<Resource> next(Duration atMost) {
        if (events.isEmpty()) {
          throw new ClusterFailure(ClusterFailure.Why.UNREACHABLE, "connection lost", "");
        }
        return Optional.of(events.remove());
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public List<String> log(String namespace, String pod, String since) {
    return List.of();
  }

  @Override
  public String raw(String path) {
    return "{\"gitVersion\": \"v1.36.0\"}";
  }

  @Override
  public String print(List<String> what, Scope scope, String format) {
    return format + " of " + String.join(" ", what);
  }
}
