package dev.stasis.agent.stream;

/**
 * A part of a file.
 *
 * @param number unique in its transfer
 * @param name path of the file below the artifact's folder, the same at both ends
 */
record Block(long number, String name, long offset, int length) {}
