/** Determines, without a cluster, what must be finished before Stasis can be removed. */
@NullMarked
package dev.stasis.operator.uninstall;

import org.jspecify.annotations.NullMarked;
