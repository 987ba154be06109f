package dev.stasis.operator.uninstall;

/**
 * Something for which Stasis must stay.
 *
 * @param what in one sentence
 * @param command that takes it away
 */
public record Obstacle(String what, String command) {}
