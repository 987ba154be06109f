package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An object, or a part of one, from the API server. Missing values are empty, because the plugin
 * may be older or newer than the cluster.
 *
 * @param json the JSON value
 */
public record Resource(JsonNode json) {

  /** Nothing. */
  public static final Resource NONE = new Resource(MissingNode.getInstance());

  /** Returns the part at a dotted path; {@link #NONE} if there is none. */
  public Resource at(String path) {
    JsonNode here = json;
    for (String name : path.split("\\.")) {
      here = here.path(name);
    }
    return new Resource(here);
  }

  /** Returns the text at a dotted path; empty if there is none. */
  public String text(String path) {
    JsonNode found = at(path).json;
    return found.isValueNode() && !found.isNull() ? found.asText() : "";
  }

  /** Returns the number at a dotted path; zero if there is none. */
  public long number(String path) {
    return at(path).json.asLong(0);
  }

  /** Returns whether the value at a dotted path is true. */
  public boolean isTrue(String path) {
    return at(path).json.asBoolean(false);
  }

  /** Returns the time at a dotted path. */
  public Optional<Instant> time(String path) {
    try {
      String text = text(path);
      return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
    } catch (DateTimeParseException notOne) {
      return Optional.empty();
    }
  }

  /** Returns the list at a dotted path. */
  public List<Resource> list(String path) {
    List<Resource> list = new ArrayList<>();
    at(path).json.forEach(one -> list.add(new Resource(one)));
    return list;
  }

  /** Returns the texts at a dotted path. */
  public List<String> texts(String path) {
    return list(path).stream().map(one -> one.json.asText()).toList();
  }

  /** Returns its kind, as in a manifest. */
  public String kind() {
    return text("kind");
  }

  /** Returns its name. */
  public String name() {
    return text("metadata.name");
  }

  /** Returns its namespace; empty if it has none. */
  public String namespace() {
    return text("metadata.namespace");
  }

  /** Returns its uid. */
  public String uid() {
    return text("metadata.uid");
  }

  /** Returns a label; empty if it does not have it. */
  public String label(String key) {
    return json.path("metadata").path("labels").path(key).asText("");
  }

  /** Returns an annotation; empty if it does not have it. */
  public String annotation(String key) {
    return json.path("metadata").path("annotations").path(key).asText("");
  }

  /** Returns one of its conditions; {@link #NONE} if it does not have that type. */
  public Resource condition(String type) {
    return list("status.conditions").stream()
        .filter(one -> one.text("type").equals(type))
        .findFirst()
        .orElse(NONE);
  }

  /** Returns whether a condition is True. */
  public boolean is(String type) {
    return condition(type).text("status").equals("True");
  }

  /** Returns its name in lists: gckpt/train-1. */
  public String title() {
    return Kind.of(kind()).map(Kind::shortName).orElse(kind()) + "/" + name();
  }
}
