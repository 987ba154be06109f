package dev.stasis.agent.criu;

import java.io.IOException;

/** A criu image with invalid content. */
public final class ImageFault extends IOException {

  private static final long serialVersionUID = 1L;

  private final String property;
  private final String expected;
  private final String actual;

  ImageFault(String property, String expected, String actual) {
    super(property + ": expected " + expected + ", got " + actual);
    this.property = property;
    this.expected = expected;
    this.actual = actual;
  }

  public String property() {
    return property;
  }

  public String expected() {
    return expected;
  }

  public String actual() {
    return actual;
  }
}
