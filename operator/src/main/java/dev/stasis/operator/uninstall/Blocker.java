package dev.stasis.operator.uninstall;

/**
 * Something that prevents an uninstall.
 *
 * @param what the reason, in one sentence
 * @param command that resolves it
 */
public record Blocker(String what, String command) {}
