package dev.stasis.agent.criu;

import dev.stasis.artifact.InterfaceAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds the target pod's address for each address of the source: the one with the same family and
 * scope on the interface with the same name, in the kernel's order.
 */
public final class AddressMatcher {

  /**
   * Returns the pairs. An address without a counterpart has no pair; criu fails if a socket is
   * bound to it.
   */
  public List<AddressPair> match(List<InterfaceAddress> source, List<InterfaceAddress> target) {
    List<InterfaceAddress> left = new ArrayList<>(target);
    List<AddressPair> pairs = new ArrayList<>();
    List<InterfaceAddress> unmatched = new ArrayList<>();
    for (InterfaceAddress address : source) {
      Optional<InterfaceAddress> match =
          left.stream()
              .filter(other -> other.device().equals(address.device()) && alike(address, other))
              .findFirst();
      match.ifPresentOrElse(
          other -> {
            left.remove(other);
            pairs.add(new AddressPair(address.address(), other.address()));
          },
          () -> unmatched.add(address));
    }
    // Another network plugin may use another name for the only interface.
    for (InterfaceAddress address : unmatched) {
      List<InterfaceAddress> others = left.stream().filter(it -> alike(address, it)).toList();
      if (others.size() == 1 && unmatched.stream().filter(it -> alike(address, it)).count() == 1) {
        pairs.add(new AddressPair(address.address(), others.get(0).address()));
      }
    }
    return pairs;
  }

  private static boolean alike(InterfaceAddress one, InterfaceAddress other) {
    return one.isIpv6() == other.isIpv6() && one.isLinkLocal() == other.isLinkLocal();
  }
}
