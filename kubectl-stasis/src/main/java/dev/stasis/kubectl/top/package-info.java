/** {@code kubectl stasis top}: the activity of a cluster on one screen. */
@NullMarked
package dev.stasis.kubectl.top;

import org.jspecify.annotations.NullMarked;
