/** Assigns pods to the only node, while they fit. */
@NullMarked
package dev.stasis.local.scheduler;

import org.jspecify.annotations.NullMarked;
