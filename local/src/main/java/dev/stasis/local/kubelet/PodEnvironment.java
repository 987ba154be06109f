package dev.stasis.local.kubelet;

import dev.stasis.local.image.LocalImage;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The environment of a container: the image's variables, then the pod's. */
record PodEnvironment(Pod pod) {

  private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  Map<String, String> of(Container container, LocalImage image) throws PodRefusal {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PATH", PATH);
    for (String line : image.settings().env()) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        variables.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    variables.put("HOSTNAME", hostname());
    if (!container.getEnvFrom().isEmpty()) {
      throw PodRefusal.notHere("envFrom");
    }
    for (EnvVar variable : container.getEnv()) {
      variables.put(variable.getName(), value(variable, variables));
    }
    return variables;
  }

  String hostname() {
    String asked = pod.getSpec().getHostname();
    String name = asked == null || asked.isEmpty() ? pod.getMetadata().getName() : asked;
    // The kernel accepts 64 bytes; a kubelet truncates at 63 as well.
    return name.length() > 63 ? name.substring(0, 63) : name;
  }

  private String value(EnvVar variable, Map<String, String> before) throws PodRefusal {
    if (variable.getValueFrom() == null) {
      String value = variable.getValue();
      return value == null ? "" : new Expansion(before).of(value);
    }
    if (variable.getValueFrom().getFieldRef() == null) {
      throw PodRefusal.notHere("env " + variable.getName() + " from a source other than a field");
    }
    String path = variable.getValueFrom().getFieldRef().getFieldPath();
    String value = field(path);
    if (value == null) {
      throw PodRefusal.notHere("env " + variable.getName() + " from " + path);
    }
    return value;
  }

  private @Nullable String field(String path) {
    return switch (path) {
      case "metadata.name" -> pod.getMetadata().getName();
      case "metadata.namespace" -> pod.getMetadata().getNamespace();
      case "metadata.uid" -> pod.getMetadata().getUid();
      case "spec.nodeName" -> pod.getSpec().getNodeName();
      case "spec.serviceAccountName" -> "default";
      default -> null;
    };
  }
}
