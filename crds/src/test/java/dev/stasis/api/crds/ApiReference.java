package dev.stasis.api.crds;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;

/**
 * The API page, made of the definitions: every kind with its columns, fields, defaults and rules.
 */
final class ApiReference {

  /** Users first, the system's own last. */
  private static final List<String> ORDER =
      List.of(
          "GpuCheckpoint",
          "GpuRestore",
          "GpuMigration",
          "GpuCheckpointSchedule",
          "GpuPreemptionPolicy",
          "GpuCheckpointStore",
          "GpuNode",
          "GpuNodeOperation");

  private static final String HEAD =
      """
      # API reference

      Generated from the CRDs by `bin/make-crds`; do not edit. Group `stasis.dev`, version `v1beta1`. `kubectl get stasis` lists the objects that users own in a namespace, `kubectl get stasis-system` the nodes, operations, stores and policies, and `kubectl explain KIND.spec` shows the same text as this page.
      Durations are written as `90s`, `10m` or `168h`. In a status, measured times end in `Milliseconds` and sizes in `Bytes`, each with a human-readable copy. For the effect of a deletion see [GpuCheckpoint](gpucheckpoint.md) and [GpuRestore](gpurestore.md), for reasons see [troubleshooting](troubleshooting.md).

      ## Keys

      | key | on | set by | meaning |
      |---|---|---|---|
      | label `stasis.dev/protect` | pod, namespace | users | checkpointed before an eviction |
      | annotation `stasis.dev/evict-deadline` | pod | users | how long an eviction may be delayed, such as `90s`, `20m` or `1h30m`, from 10s to 168h; default 10m, at most 6h (`eviction.maxDeadline`). Any other value is ignored without a message |
      | label `stasis.dev/prepare` | pod, namespace | users | new pods are made restorable: `true` or `ranks` ([prepared pods](prepare.md)) |
      | label `stasis.dev/data-path` | pod, namespace | users | `direct`: device memory takes the [direct data path](direct-path.md) |
      | annotation `stasis.dev/prepared` | pod | operator | what was set, and what was left as the user set it |
      | label `stasis.dev/node` | GpuNodeOperation | operator | the node whose agent executes it |
      | label `stasis.dev/operation-uid` | GpuNodeOperation, target pod, what a policy or a migration makes | operator | UID of the object for which it was created |
      | label `stasis.dev/checkpoint` | restored pod | operator | the GpuCheckpoint from which it was restored, or the GpuMigration that moved it |
      | annotation `stasis.dev/restored-from` | restored pod | operator | namespace and name of its GpuRestore |
      | annotation `stasis.dev/first-name` | restored pod | operator | name of the first pod, if the name differs |
      | annotation `stasis.dev/former-pods` | restored pod | operator | UIDs of the pods in which its workload ran before, at most 16, the last one first; `UID@TIME` if it was restored from their state of that time |
      | annotation `stasis.dev/workload-start` | restored pod | operator | when its workload started, in a former pod |
      | annotation `stasis.dev/image` | restored pod | operator | name of an image that is in no registry |
      | annotation `stasis.dev/created-by` | requests | the API server | the user who requested it |
      | annotation `stasis.dev/traceparent` | operations | the operator | parent span of the agent's spans, if tracing is on |
      | condition `stasis.dev/Frozen` | pod | operator | the workload is frozen: reason, time and object |
      | readiness gate `stasis.dev/restored` | target pod | operator | true once the workload was verified |
      | label `topology.stasis.dev/gpus-N` | Node | operator | hash of the topology of N GPUs of the node |

      Users may not set other keys below `stasis.dev`.
      """;

  private final StringBuilder page = new StringBuilder(HEAD);

  /** Of the definitions, by the names of their files. */
  static String of(SortedMap<String, String> definitions) {
    KubernetesSerialization serialization = new KubernetesSerialization();
    List<JsonNode> all =
        definitions.values().stream()
            .map(yaml -> serialization.unmarshal(yaml, JsonNode.class).path("spec"))
            .sorted(Comparator.comparingInt(spec -> ORDER.indexOf(kind(spec))))
            .toList();
    ApiReference reference = new ApiReference();
    all.forEach(reference::kindOf);
    return reference.page.toString();
  }

  private static String kind(JsonNode spec) {
    return spec.path("names").path("kind").asText();
  }

  private void kindOf(JsonNode spec) {
    JsonNode version = spec.path("versions").path(0);
    JsonNode schema = version.path("schema").path("openAPIV3Schema");
    page.append("\n## ").append(kind(spec)).append("\n\n");
    page.append(schema.path("description").asText()).append("\n\n");
    page.append(spec.path("scope").asText())
        .append(", short name `")
        .append(spec.path("names").path("shortNames").path(0).asText())
        .append("`. Columns: ")
        .append(columns(version, 0));
    String wide = columns(version, 1);
    page.append(wide.isEmpty() ? ".\n" : "; with `-o wide` " + wide + ".\n");
    rules(schema);
    for (String part : List.of("spec", "status")) {
      JsonNode fields = schema.path("properties").path(part);
      if (fields.path("properties").isEmpty()) {
        continue;
      }
      page.append("\n### ").append(kind(spec)).append(' ').append(part).append("\n\n");
      page.append("| field | type | description |\n|---|---|---|\n");
      fields(fields, "");
    }
  }

  private static String columns(JsonNode version, int priority) {
    List<String> names = new ArrayList<>();
    version
        .path("additionalPrinterColumns")
        .forEach(
            column -> {
              if (column.path("priority").asInt() == priority) {
                names.add(column.path("name").asText());
              }
            });
    return String.join(", ", names);
  }

  private void fields(JsonNode object, String prefix) {
    for (Map.Entry<String, JsonNode> field : object.path("properties").properties()) {
      String name = prefix + field.getKey();
      JsonNode schema = field.getValue();
      boolean required = contains(object.path("required"), field.getKey());
      page.append("| `")
          .append(name)
          .append("` | ")
          .append(type(schema))
          .append(" | ")
          .append(required && prefix.isEmpty() ? "**Required.** " : "")
          .append(text(schema))
          .append(" |\n");
      fields(schema, name + ".");
      fields(schema.path("items"), name + "[].");
    }
  }

  private static boolean contains(JsonNode list, String name) {
    for (JsonNode one : list) {
      if (one.asText().equals(name)) {
        return true;
      }
    }
    return false;
  }

  private static String type(JsonNode schema) {
    String type = schema.path("type").asText("any");
    if (type.equals("array")) {
      return "list of " + type(schema.path("items"));
    }
    if (type.equals("object") && schema.has("additionalProperties")) {
      return "map of " + type(schema.path("additionalProperties"));
    }
    return type;
  }

  private static String text(JsonNode schema) {
    StringBuilder text = new StringBuilder(schema.path("description").asText());
    JsonNode values =
        schema.path("enum").isMissingNode()
            ? schema.path("items").path("enum")
            : schema.path("enum");
    if (!values.isMissingNode()) {
      List<String> words = new ArrayList<>();
      values.forEach(value -> words.add("`" + value.asText() + "`"));
      text.append(" One of ").append(String.join(", ", words)).append('.');
    }
    String described = text.toString().toLowerCase(Locale.ROOT);
    if (schema.path("default").isValueNode() && !described.contains("default:")) {
      text.append(" Default: ").append(schema.path("default").asText()).append('.');
    }
    for (JsonNode rule : schema.path("x-kubernetes-validations")) {
      text.append(" *").append(rule.path("message").asText()).append(".*");
    }
    return text.toString().replace("|", "\\|").replace("\n", " ").strip();
  }

  private void rules(JsonNode schema) {
    List<String> messages = new ArrayList<>();
    schema
        .path("x-kubernetes-validations")
        .forEach(rule -> messages.add(rule.path("message").asText()));
    schema
        .path("properties")
        .path("spec")
        .path("x-kubernetes-validations")
        .forEach(rule -> messages.add("spec." + rule.path("message").asText()));
    if (!messages.isEmpty()) {
      page.append("\nRules: ").append(String.join("; ", messages)).append(".\n");
    }
  }
}
