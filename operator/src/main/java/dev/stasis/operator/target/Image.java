package dev.stasis.operator.target;

import java.util.SortedSet;
import java.util.TreeSet;

/** The image of the workload: exactly the image at the freeze. */
public sealed interface Image {

  /**
   * An image that can be pulled by its digest.
   *
   * @param reference {@code registry/repository@sha256:...}
   */
  record ByDigest(String reference) implements Image {}

  /**
   * An image that was loaded manually, without a digest in a registry. Pods name it by its id, and
   * run on the nodes that have it.
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
