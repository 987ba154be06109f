package dev.stasis.operator.uninstall;

/**
 * Something that prevents an uninstall.
 *
 * @param what the reason, in one sentence
 * @param remedy the command that resolves it, or a sentence with it
 * @param givenUp what a forced uninstall gives up
 */
public record Blocker(String what, String remedy, String givenUp) {}
