package dev.stasis.operator.target;

import java.util.List;
import java.util.Set;

/**
 * An installation's settings for targets.
 *
 * @param holderImage image with {@code stasis-runtime}; its user is a number other than 0
 * @param holderCommand copies {@code stasis-runtime} into /.stasis
 * @param injected names of containers that an admission webhook adds to every pod again
 */
public record TargetSettings(String holderImage, List<String> holderCommand, Set<String> injected) {

  /** The containers of the usual service meshes and of Vault. */
  public static final Set<String> USUALLY_INJECTED =
      Set.of(
          "istio-proxy",
          "istio-init",
          "istio-validation",
          "linkerd-proxy",
          "linkerd-init",
          "linkerd-network-validator",
          "vault-agent",
          "vault-agent-init",
          "consul-dataplane",
          "consul-connect-inject-init");

  public TargetSettings {
    holderCommand = List.copyOf(holderCommand);
    injected = Set.copyOf(injected);
  }

  /** The default settings, with that image. */
  public static TargetSettings ofImage(String holderImage) {
    return new TargetSettings(
        holderImage,
        List.of("/stasis-runtime", "install", "--dir", Holder.FOLDER),
        USUALLY_INJECTED);
  }
}
