package dev.stasis.kubectl.cluster;

import java.util.List;

/** The namespaces of a command. */
public sealed interface Scope {

  /** Returns the options for kubectl. */
  List<String> options();

  /** The namespace of the context, or of {@code -n}. */
  record Current() implements Scope {
    @Override
    public List<String> options() {
      return List.of();
    }
  }

  /** One namespace. */
  record Named(String namespace) implements Scope {
    @Override
    public List<String> options() {
      return List.of("--namespace", namespace);
    }
  }

  /** All namespaces. */
  record All() implements Scope {
    @Override
    public List<String> options() {
      return List.of("--all-namespaces");
    }
  }
}
