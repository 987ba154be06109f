package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An object, or a part of one, as the API server gave it. What is not there is empty: a plugin may
 * be older or newer than the cluster.
 *
 * @param json what there is
 */
public record Resource(JsonNode json) {

  /** Nothing. */
  public static final Resource NONE = new Resource(MissingNode.getInstance());

  /** The part at a path with dots; {@link #NONE} when there is none. */
  public Resource at(String path) {
    JsonNode here = json;
    for (String name : path.split("\\.")) {
      here = here.path(name);
    }
    return new Resource(here);
  }

  /** The text at a path with dots; empty when there is none. */
  public String text(String path) {
    JsonNode found = at(path).json;
    return found.isValueNode() && !found.isNull() ? found.asText() : "";
  }

  /** The number at a path with dots; zero when there is none. */
  public long number(String path) {
    return at(path).json.asLong(0);
  }

  /** Whether it says true at a path with dots. */
  public boolean isTrue(String path) {
    return at(path).json.asBoolean(false);
  }

  /** The time at a path with dots. */
  public Optional<Instant> time(String path) {
    try {
      String text = text(path);
      return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
    } catch (DateTimeParseException notOne) {
      return Optional.empty();
    }
  }

  /** The list at a path with dots. */
  public List<Resource> list(String path) {
    List<Resource> list = new ArrayList<>();
    at(path).json.forEach(one -> list.add(new Resource(one)));
    return list;
  }

  /** The texts at a path with dots. */
  public List<String> texts(String path) {
    return list(path).stream().map(one -> one.json.asText()).toList();
  }

  /** Its kind, as in a manifest. */
  public String kind() {
    return text("kind");
  }

  /** Its name. */
  public String name() {
    return text("metadata.name");
  }

  /** Its namespace; empty when it has none. */
  public String namespace() {
    return text("metadata.namespace");
  }

  /** Its uid. */
  public String uid() {
    return text("metadata.uid");
  }

  /** A label; empty when it has none of that name. */
  public String label(String key) {
    return json.path("metadata").path("labels").path(key).asText("");
  }

  /** An annotation; empty when it has none of that name. */
  public String annotation(String key) {
    return json.path("metadata").path("annotations").path(key).asText("");
  }

  /** One of its conditions; {@link #NONE} when it has none of that type. */
  public Resource condition(String type) {
    return list("status.conditions").stream()
        .filter(one -> one.text("type").equals(type))
        .findFirst()
        .orElse(NONE);
  }

  /** Whether a condition is True. */
  public boolean is(String type) {
    return condition(type).text("status").equals("True");
  }

  /** How a list names it: gckpt/train-1. */
  public String title() {
    return Kind.of(kind()).map(Kind::shortName).orElse(kind()) + "/" + name();
  }
}
