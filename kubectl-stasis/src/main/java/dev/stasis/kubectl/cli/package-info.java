/** {@code kubectl stasis}: commands, their options, and what they print. */
@NullMarked
package dev.stasis.kubectl.cli;

import org.jspecify.annotations.NullMarked;
