package dev.stasis.artifact;

import java.util.Objects;

/**
 * A property of a workload that keeps it from being restored in another pod.
 *
 * @param property which
 * @param expected what it would have to be, and how to get there
 * @param actual what it was when the workload was frozen
 */
public record Obstacle(String property, String expected, String actual) {
  public Obstacle {
    Objects.requireNonNull(property, "property");
    Objects.requireNonNull(expected, "expected");
    Objects.requireNonNull(actual, "actual");
  }
}
