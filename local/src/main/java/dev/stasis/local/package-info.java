/** The single-machine mode put together: operator and agent over stand-ins, in one program. */
@NullMarked
package dev.stasis.local;

import org.jspecify.annotations.NullMarked;
