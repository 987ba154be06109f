/** Gives pods to the one node, as far as it fits them. */
@NullMarked
package dev.stasis.local.scheduler;

import org.jspecify.annotations.NullMarked;
