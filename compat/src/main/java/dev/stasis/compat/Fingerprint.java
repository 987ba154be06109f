package dev.stasis.compat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The requirements of a pod, or the offer of a node: a value for each known {@link Property}, in
 * canonical form. The text is for users and for programs: one property per line, sorted by name,
 * each line {@code name=value}. Equal fingerprints have equal texts and therefore equal hashes.
 */
public final class Fingerprint {
  private static final int HASH_CHARACTERS = 12;

  /** One for all: a sorted map is copied in one pass if both have the same comparator. */
  private static final Comparator<Property> BY_NAME = Comparator.comparing(Property::key);

  private static final Fingerprint EMPTY = new Fingerprint(Map.of());

  private final SortedMap<Property, String> values;

  private Fingerprint(Map<Property, String> values) {
    SortedMap<Property, String> sorted = new TreeMap<>(BY_NAME);
    sorted.putAll(values);
    this.values = Collections.unmodifiableSortedMap(sorted);
  }

  /** The empty fingerprint: no requirements and no offer. */
  public static Fingerprint empty() {
    return EMPTY;
  }

  /**
   * Parses {@link #text()}. Properties unknown to this version are ignored, so that programs one
   * version apart can exchange fingerprints.
   *
   * @throws IllegalArgumentException names the invalid line, or the property with an invalid value
   */
  public static Fingerprint parse(String text) {
    Map<Property, String> values = new EnumMap<>(Property.class);
    for (String line : text.lines().filter(line -> !line.isBlank()).toList()) {
      int equals = line.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(
            "fingerprint: expected lines like gpu.count=1, got \"" + line + "\"");
      }
      Property.ofKey(line.substring(0, equals))
          .ifPresent(it -> values.put(it, it.rule().read(it.key(), line.substring(equals + 1))));
    }
    return new Fingerprint(values);
  }

  /**
   * Returns a copy with one value set.
   *
   * @throws IllegalArgumentException names the property, the expected format, and the value
   */
  public Fingerprint with(Property property, String value) {
    SortedMap<Property, String> changed = new TreeMap<>(values);
    changed.put(property, property.rule().read(property.key(), value));
    return new Fingerprint(changed);
  }

  /**
   * Returns a copy with the value of a property that is a set of words, such as features or paths.
   */
  public Fingerprint with(Property property, Collection<String> words) {
    return with(property, Words.of(words));
  }

  /** Returns a copy without one property. */
  public Fingerprint without(Property property) {
    SortedMap<Property, String> changed = new TreeMap<>(values);
    changed.remove(property);
    return new Fingerprint(changed);
  }

  /** Merges two fingerprints; the other's value takes precedence. */
  public Fingerprint and(Fingerprint other) {
    SortedMap<Property, String> all = new TreeMap<>(values);
    all.putAll(other.values);
    return new Fingerprint(all);
  }

  /**
   * Returns only the properties of these scopes, for example those of a node, before there is a
   * pod.
   */
  public Fingerprint only(Scope... scopes) {
    Set<Scope> kept = Set.of(scopes);
    SortedMap<Property, String> some = new TreeMap<>(values);
    some.keySet().removeIf(property -> !kept.contains(property.scope()));
    return new Fingerprint(some);
  }

  /** Returns the value of a property in canonical form; empty if unset. */
  public Optional<String> value(Property property) {
    return Optional.ofNullable(values.get(property));
  }

  /** All values, by name. */
  public SortedMap<Property, String> values() {
    return values;
  }

  /** The canonical text. */
  public String text() {
    return values.entrySet().stream()
        .map(entry -> entry.getKey().key() + "=" + entry.getValue() + "\n")
        .collect(Collectors.joining());
  }

  /** The first 12 hexadecimal digits of the text's SHA-256: short enough for a label value. */
  public String hash() {
    return hash(text());
  }

  static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH_CHARACTERS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is part of every Java platform", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Fingerprint that && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return text();
  }
}
