package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.stasis.kubectl.cluster.Cluster;
import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.cluster.Scope;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The common part of all commands that use a cluster. */
abstract class ClusterCommand implements Callable<Integer> {

  /** The output formats for programs. */
  enum Format {
    JSON,
    YAML;

    String value() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns a document in this format. */
    String text(JsonNode document) {
      try {
        return this == YAML
            ? new YAMLMapper().writeValueAsString(document).stripTrailing()
            : document.toPrettyString();
      } catch (JsonProcessingException e) {
        throw new UncheckedIOException("cannot write a document in memory", e);
      }
    }
  }

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "shows this help")
  boolean help;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Connection connection;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "json|yaml",
      description = "output format for programs; default: human-readable text")
  @Nullable Format format;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  private final Session session;
  private @Nullable Cluster cluster;

  ClusterCommand(Session session) {
    this.session = session;
  }

  final Session session() {
    return session;
  }

  final Cluster cluster() {
    Cluster made = cluster;
    if (made == null) {
      made = session.cluster().apply(connection.options());
      cluster = made;
    }
    return made;
  }

  final void say(String text) {
    session.terminal().say(text);
  }

  final void complain(String text) {
    session.terminal().complain(text);
  }

  /**
   * Starts the document for programs, which is printed only with -o.
   *
   * @param isList false if exactly one object was named
   */
  final ObjectDocument document(boolean isList) {
    return new ObjectDocument(session.terminal(), format, isList);
  }

  /** Prints the object that was named, for programs. */
  final void print(Resource object) {
    try (ObjectDocument document = document(false)) {
      document.add(object);
    }
  }

  static Scope scope(Resource object) {
    return object.namespace().isEmpty() ? new Scope.Current() : new Scope.Named(object.namespace());
  }

  /** Has a request in progress rolled back. */
  final Resource cancel(Resource request) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").putObject("options").put("cancel", true);
    return cluster()
        .patch(Kind.of(request.kind()).orElseThrow(), scope(request), request.name(), patch);
  }

  /** Starts a manifest. */
  final ObjectNode manifest(Kind kind) {
    ObjectNode manifest = JsonNodeFactory.instance.objectNode();
    manifest.put("apiVersion", "stasis.dev/v1beta1");
    manifest.put("kind", kind.value());
    manifest.putObject("metadata");
    manifest.putObject("spec");
    return manifest;
  }

  /** Parses a name, possibly with a kind before it: pod/trainer. */
  final String name(String given, Kind kind) {
    int slash = given.indexOf('/');
    if (slash < 0) {
      return given;
    }
    if (Kind.written(given.substring(0, slash)).filter(kind::equals).isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "expected the name of a " + kind.value() + ", got " + given);
    }
    return given.substring(slash + 1);
  }

  /** Parses the value of --timeout. */
  final Duration duration(String text) {
    try {
      return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
    } catch (DateTimeParseException wrong) {
      throw new ParameterException(
          spec.commandLine(), "--timeout: expected a time like 90s, 10m or 2h, got " + text);
    }
  }
}
