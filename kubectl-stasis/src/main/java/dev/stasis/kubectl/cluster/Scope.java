package dev.stasis.kubectl.cluster;

import java.util.List;

/** Which namespaces are meant. */
public sealed interface Scope {

  /** As options of kubectl. */
  List<String> options();

  /** That of the context, or of {@code -n}. */
  record Current() implements Scope {
    @Override
    public List<String> options() {
      return List.of();
    }
  }

  /** One of that name. */
  record Named(String namespace) implements Scope {
    @Override
    public List<String> options() {
      return List.of("--namespace", namespace);
    }
  }

  /** All of them. */
  record All() implements Scope {
    @Override
    public List<String> options() {
      return List.of("--all-namespaces");
    }
  }
}
