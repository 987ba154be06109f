package dev.stasis.agent.stream;

import java.nio.file.Path;

/**
 * A part of a file.
 *
 * @param number unique in its transfer
 * @param file where the sender has it
 * @param name where the receiver puts it, below the artifact's folder
 */
record Block(long number, Path file, String name, long offset, int length) {}
