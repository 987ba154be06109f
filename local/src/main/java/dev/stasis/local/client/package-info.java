/** As much of kubectl as the demo needs, for machines without one. */
@NullMarked
package dev.stasis.local.client;

import org.jspecify.annotations.NullMarked;
