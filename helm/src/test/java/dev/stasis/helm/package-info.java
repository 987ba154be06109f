/** What the chart promises, tried on its text and on a real API server. */
@NullMarked
package dev.stasis.helm;

import org.jspecify.annotations.NullMarked;
