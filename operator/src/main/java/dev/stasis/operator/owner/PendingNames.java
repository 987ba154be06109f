package dev.stasis.operator.owner;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names of objects that the next reconciliation of their namespace looks at. One that is added
 * during a reconciliation remains for the next one.
 */
final class PendingNames {

  private final Set<ResourceID> pending = ConcurrentHashMap.newKeySet();

  void add(String namespace, String name) {
    pending.add(new ResourceID(name, namespace));
  }

  void addAll(String namespace, Collection<String> names) {
    names.forEach(name -> add(namespace, name));
  }

  /** Returns those of a namespace, and removes them. */
  Set<String> take(String namespace) {
    Set<String> taken = new HashSet<>();
    for (ResourceID each : pending) {
      if (each.getNamespace().filter(namespace::equals).isPresent() && pending.remove(each)) {
        taken.add(each.getName());
      }
    }
    return taken;
  }
}
