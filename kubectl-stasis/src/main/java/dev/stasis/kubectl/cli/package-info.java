/** {@code kubectl stasis}: commands, their options, and their output. */
@NullMarked
package dev.stasis.kubectl.cli;

import org.jspecify.annotations.NullMarked;
