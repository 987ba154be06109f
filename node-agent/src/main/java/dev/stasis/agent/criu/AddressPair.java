package dev.stasis.agent.criu;

/**
 * An address of the source pod and its replacement in the target.
 *
 * @param source IPv4 or IPv6
 * @param target of the same family
 */
public record AddressPair(String source, String target) {}
