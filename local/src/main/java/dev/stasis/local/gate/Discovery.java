package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Serves the API's discovery paths. */
final class Discovery {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> VERBS =
      List.of("create", "delete", "get", "list", "patch", "update", "watch");

  private final List<Kind> kinds;

  Discovery(List<Kind> kinds) {
    this.kinds = List.copyOf(kinds);
  }

  /** Returns the answer to a path without a query; empty if it is not a discovery path. */
  Optional<ObjectNode> answer(String path) {
    if (path.equals("/version")) {
      return Optional.of(
          JSON.createObjectNode()
              .put("major", "1")
              .put("minor", "34")
              .put("gitVersion", "v1.34.0-single-machine-mode")
              .put("platform", "linux/amd64"));
    }
    if (path.equals("/api")) {
      ObjectNode versions = JSON.createObjectNode().put("kind", "APIVersions");
      versions.putArray("versions").add("v1");
      return Optional.of(versions);
    }
    if (path.equals("/apis")) {
      return Optional.of(groups());
    }
    if (path.equals("/openapi/v3")) {
      return Optional.of(schemas());
    }
    if (path.startsWith("/openapi/v3/")) {
      return Optional.of(schema(path.substring("/openapi/v3".length())));
    }
    List<Kind> here = kinds.stream().filter(kind -> kind.prefix().equals(path)).toList();
    return here.isEmpty() ? Optional.empty() : Optional.of(resources(here));
  }

  private ObjectNode groups() {
    ObjectNode list = JSON.createObjectNode().put("kind", "APIGroupList").put("apiVersion", "v1");
    ArrayNode groups = list.putArray("groups");
    Map<String, String> versions = new LinkedHashMap<>();
    kinds.stream()
        .filter(kind -> !kind.group().isEmpty())
        .forEach(kind -> versions.put(kind.group(), kind.version()));
    versions.forEach(
        (group, version) -> {
          ObjectNode entry = groups.addObject().put("name", group);
          ObjectNode one =
              JSON.createObjectNode()
                  .put("groupVersion", group + "/" + version)
                  .put("version", version);
          entry.putArray("versions").add(one);
          entry.set("preferredVersion", one);
        });
    return list;
  }

  private static ObjectNode resources(List<Kind> here) {
    ObjectNode list =
        JSON.createObjectNode()
            .put("kind", "APIResourceList")
            .put("apiVersion", "v1")
            .put("groupVersion", here.get(0).apiVersion());
    ArrayNode resources = list.putArray("resources");
    for (Kind kind : here) {
      ObjectNode resource =
          resources
              .addObject()
              .put("name", kind.plural())
              .put("singularName", kind.kind().toLowerCase(java.util.Locale.ROOT))
              .put("namespaced", kind.namespaced())
              .put("kind", kind.kind());
      VERBS.forEach(resource.putArray("verbs")::add);
      kind.shortNames().forEach(resource.putArray("shortNames")::add);
      kind.categories().forEach(resource.putArray("categories")::add);
      resources
          .addObject()
          .put("name", kind.plural() + "/status")
          .put("singularName", "")
          .put("namespaced", kind.namespaced())
          .put("kind", kind.kind())
          .putArray("verbs")
          .add("get")
          .add("patch")
          .add("update");
    }
    return list;
  }

  private ObjectNode schemas() {
    ObjectNode answer = JSON.createObjectNode();
    ObjectNode paths = answer.putObject("paths");
    for (String prefix : new TreeSet<>(kinds.stream().map(Kind::prefix).toList())) {
      paths.putObject(prefix.substring(1)).put("serverRelativeURL", "/openapi/v3" + prefix);
    }
    return answer;
  }

  /** Announces that the server validates fields; otherwise kubectl requires complete schemas. */
  private ObjectNode schema(String prefix) {
    ObjectNode answer = JSON.createObjectNode().put("openapi", "3.0.0");
    answer.putObject("info").put("title", "single-machine mode").put("version", "1");
    ObjectNode paths = answer.putObject("paths");
    for (Kind kind : kinds) {
      if (kind.prefix().equals(prefix)) {
        ObjectNode patch =
            paths.putObject(prefix + "/" + kind.plural() + "/{name}").putObject("patch");
        patch.putArray("parameters").addObject().put("name", "fieldValidation").put("in", "query");
        patch
            .putObject("x-kubernetes-group-version-kind")
            .put("group", kind.group())
            .put("version", kind.version())
            .put("kind", kind.kind());
      }
    }
    return answer;
  }
}
