/** Images as host folders: no registry, no layers, no downloads. */
@NullMarked
package dev.stasis.local.image;

import org.jspecify.annotations.NullMarked;
