package dev.stasis.compat;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The connection of two GPUs, in the terms of {@code nvidia-smi topo -m}, ordered from weak to
 * strong.
 *
 * @param kind the kind of link
 * @param lanes the number of bonded NVLinks; 0 for any other kind
 */
public record Link(Kind kind, int lanes) implements Comparable<Link> {
  private static final Pattern NVLINK = Pattern.compile("NV([1-9][0-9]{0,2})");
  private static final Comparator<Link> BY_STRENGTH =
      Comparator.comparing(Link::kind).thenComparingInt(Link::lanes);

  /** Kinds of links, from weak to strong. */
  public enum Kind {
    /** Over the interconnect between CPU sockets. */
    SYS,
    /** Over several PCIe host bridges of one socket. */
    NODE,
    /** Over one PCIe host bridge. */
    PHB,
    /** Over several PCIe switches. */
    PXB,
    /** Over one PCIe switch. */
    PIX,
    /** Over NVLinks. */
    NV
  }

  public Link {
    if ((kind == Kind.NV) != (lanes > 0) || lanes < 0) {
      throw new IllegalArgumentException(
          "link: expected lanes only for NVLink, got %s with %d".formatted(kind, lanes));
    }
  }

  /** Returns a link of that many NVLinks. */
  public static Link nvlink(int lanes) {
    return new Link(Kind.NV, lanes);
  }

  /** Returns a link over PCIe or between sockets. */
  public static Link of(Kind kind) {
    return new Link(kind, 0);
  }

  /**
   * Parses {@code NV18}, {@code PIX}, ...; throws {@link IllegalArgumentException} for anything
   * else.
   */
  public static Link parse(String text) {
    Matcher nvlink = NVLINK.matcher(text);
    if (nvlink.matches()) {
      return nvlink(Integer.parseInt(nvlink.group(1)));
    }
    for (Kind kind : Kind.values()) {
      if (kind != Kind.NV && kind.name().equals(text)) {
        return of(kind);
      }
    }
    throw new IllegalArgumentException(
        "link: expected one of SYS, NODE, PHB, PXB, PIX, NV1 to NV999, got \"" + text + "\"");
  }

  /** Returns {@code NV18}, {@code PIX}, ... */
  public String text() {
    return kind == Kind.NV ? "NV" + lanes : kind.name();
  }

  @Override
  public int compareTo(Link other) {
    return BY_STRENGTH.compare(this, other);
  }
}
