/** Images that are folders of this machine: no registry, no layers, nothing downloaded. */
@NullMarked
package dev.stasis.local.image;

import org.jspecify.annotations.NullMarked;
