/**
 * Room for the device memory inside a pod's memory limit: which in-place resize makes it, or why
 * none can.
 */
@NullMarked
package dev.stasis.operator.room;

import org.jspecify.annotations.NullMarked;
