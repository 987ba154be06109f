package dev.stasis.artifact;

import java.util.Objects;

/**
 * A property of a workload that prevents its restore in another pod.
 *
 * @param property the property
 * @param expected the required value, and how to achieve it
 * @param actual the value when the workload was frozen
 */
public record Obstacle(String property, String expected, String actual) {
  public Obstacle {
    Objects.requireNonNull(property, "property");
    Objects.requireNonNull(expected, "expected");
    Objects.requireNonNull(actual, "actual");
  }
}
