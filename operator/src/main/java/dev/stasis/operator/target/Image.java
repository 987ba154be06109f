package dev.stasis.operator.target;

import java.util.SortedSet;
import java.util.TreeSet;

/** The image of the workload, exactly the one that was frozen. */
public sealed interface Image {

  /**
   * One that can be pulled by its digest.
   *
   * @param reference {@code registry/repository@sha256:...}
   */
  record ByDigest(String reference) implements Image {}

  /**
   * One that was loaded by hand, so that no registry knows its digest: it runs under its id, on the
   * nodes that have it.
   *
   * @param id {@code sha256:...}
   * @param nodes names of the nodes that list it
   */
  record ById(String id, SortedSet<String> nodes) implements Image {
    public ById {
      nodes = java.util.Collections.unmodifiableSortedSet(new TreeSet<>(nodes));
    }
  }
}
