/** Writes into memory-backed files at memory speed. */
@NullMarked
package dev.stasis.agent.tmpfs;

import org.jspecify.annotations.NullMarked;
