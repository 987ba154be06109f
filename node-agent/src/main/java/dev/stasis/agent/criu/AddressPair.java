package dev.stasis.agent.criu;

/**
 * An address of the source pod and the one that replaces it in the target.
 *
 * @param source IPv4 or IPv6
 * @param target of the same family
 */
public record AddressPair(String source, String target) {}
