/** Runs programs of this machine, each with a deadline. */
@NullMarked
package dev.stasis.local.host;

import org.jspecify.annotations.NullMarked;
