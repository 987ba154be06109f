/** {@code kubectl stasis top}: what goes on in a cluster, on one screen. */
@NullMarked
package dev.stasis.kubectl.top;

import org.jspecify.annotations.NullMarked;
