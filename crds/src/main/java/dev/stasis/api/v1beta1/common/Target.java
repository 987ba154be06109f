package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Placement and metadata of a restored pod. If empty, the scheduler chooses among the compatible
 * nodes.
 */
@ValidationRule(
    value = "!(has(self.nodeName) && has(self.nodeSelector))",
    message = "must set at most one of nodeName and nodeSelector")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Target(
    @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 63)
        @JsonPropertyDescription("Node on which to run the pod.")
        @Nullable String nodeName,
    @Size(max = 32)
        @JsonPropertyDescription("Labels that the node must have, in addition to being compatible.")
        @Nullable Map<String, String> nodeSelector,
    @Size(max = 64) @JsonPropertyDescription("Names of nodes on which the pod must not run.")
        @Nullable List<String> excludeNodes,
    @Size(max = 64)
        @JsonPropertyDescription("Names of nodes on which the pod runs only if no other node fits.")
        @Nullable List<String> avoidNodes,
    @Pattern(Names.SUBDOMAIN)
        @Size(min = 1, max = 253)
        @JsonPropertyDescription(
            "Name of the restored pod. Default: the name of the checkpointed pod if it is "
                + "free, otherwise that name with a suffix.")
        @Nullable String podName,
    @Size(max = 32)
        @ValidationRule(
            value =
                "self.all(key, !key.startsWith('stasis.dev/') && !key.contains('.stasis.dev/'))",
            message = "labels: keys under stasis.dev are reserved for Stasis")
        @JsonPropertyDescription(
            "Labels to add to the restored pod. Keys in the domain stasis.dev are refused.")
        @Nullable Map<String, String> labels) {

  /** Any node, under any name. */
  public static final Target ANYWHERE = new Target(null, null, null, null);

  /** Creates a target on any node that has the labels. */
  public Target(
      @Nullable String nodeName,
      @Nullable Map<String, String> nodeSelector,
      @Nullable String podName,
      @Nullable Map<String, String> labels) {
    this(nodeName, nodeSelector, null, null, podName, labels);
  }

  /** Returns the names of the nodes on which the pod must not run. */
  public List<String> excluded() {
    return excludeNodes == null ? List.of() : excludeNodes;
  }

  /** Returns the names of the nodes on which the pod runs only if no other node fits. */
  public List<String> avoided() {
    return avoidNodes == null ? List.of() : avoidNodes;
  }
}
