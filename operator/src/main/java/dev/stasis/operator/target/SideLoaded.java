package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * An image that was loaded manually. Nodes list it only by name, and a restored pod has only its
 * id. The name is therefore recorded on the pod, however often it is restored.
 *
 * @param pod metadata and spec of the pod that has it
 * @param container name of the container
 */
public record SideLoaded(Pod pod, String container) {

  private static final String ID = "sha256:";

  /** Returns its name; empty if it is unknown. */
  public Optional<String> name() {
    return pod.getSpec().getContainers().stream()
        .filter(it -> it.getName().equals(container))
        .map(Container::getImage)
        .filter(image -> image != null && !image.startsWith(ID))
        .findFirst()
        .or(() -> Marks.annotation(pod, Api.IMAGE_ANNOTATION));
  }
}
