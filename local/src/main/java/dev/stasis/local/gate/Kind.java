package dev.stasis.local.gate;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionNames;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.List;

/** A kind that kubectl can request. */
record Kind(
    String group,
    String version,
    String kind,
    String plural,
    boolean namespaced,
    List<String> shortNames,
    List<String> categories,
    List<Column> columns) {

  /** Types of columns computed from a pod. */
  static final String READY = "ready containers";

  static final String STATUS = "pod status";

  private static final List<Column> AGE =
      List.of(new Column("Age", "date", ".metadata.creationTimestamp", 0));

  Kind {
    shortNames = List.copyOf(shortNames);
    categories = List.copyOf(categories);
    columns = List.copyOf(columns);
  }

  /** A column of a table; columns with a priority appear only in wide output. */
  record Column(String name, String type, String path, int priority) {}

  static Kind of(CustomResourceDefinition definition) {
    CustomResourceDefinitionVersion version = definition.getSpec().getVersions().get(0);
    CustomResourceDefinitionNames names = definition.getSpec().getNames();
    return new Kind(
        definition.getSpec().getGroup(),
        version.getName(),
        names.getKind(),
        names.getPlural(),
        definition.getSpec().getScope().equals("Namespaced"),
        names.getShortNames(),
        names.getCategories(),
        version.getAdditionalPrinterColumns().stream().map(Kind::column).toList());
  }

  private static Column column(CustomResourceColumnDefinition column) {
    Integer priority = column.getPriority();
    return new Column(
        column.getName(), column.getType(), column.getJsonPath(), priority == null ? 0 : priority);
  }

  private static Kind core(String kind, String plural, boolean namespaced, List<Column> columns) {
    return new Kind("", "v1", kind, plural, namespaced, List.of(), List.of(), columns);
  }

  /** The Kubernetes kinds of the single-machine mode. */
  static List<Kind> ofKubernetes() {
    List<Column> pods =
        List.of(
            new Column("Ready", READY, "", 0),
            new Column("Status", STATUS, "", 0),
            new Column("Restarts", "integer", ".status.containerStatuses[0].restartCount", 0),
            AGE.get(0),
            new Column("Node", "string", ".spec.nodeName", 1));
    List<Column> events =
        List.of(
            new Column("Last Seen", "date", ".lastTimestamp", 0),
            new Column("Type", "string", ".type", 0),
            new Column("Reason", "string", ".reason", 0),
            new Column("Object", "string", ".involvedObject.name", 0),
            new Column("Message", "string", ".message", 0));
    return List.of(
        core("Pod", "pods", true, pods),
        core("Event", "events", true, events),
        core("Namespace", "namespaces", false, AGE),
        core("Node", "nodes", false, AGE));
  }

  ResourceDefinitionContext context() {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withPlural(plural)
        .withKind(kind)
        .withNamespaced(namespaced)
        .build();
  }

  String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  String prefix() {
    return group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version;
  }
}
