/** The GPUs of this machine, and how they come into a container. */
@NullMarked
package dev.stasis.local.gpu;

import org.jspecify.annotations.NullMarked;
