/** The GPUs of this machine, and their mounts in containers. */
@NullMarked
package dev.stasis.local.gpu;

import org.jspecify.annotations.NullMarked;
