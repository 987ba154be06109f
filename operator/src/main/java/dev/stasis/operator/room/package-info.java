/**
 * Memory for the device memory within a pod's memory limit: the in-place resize that provides it,
 * or why none can.
 */
@NullMarked
package dev.stasis.operator.room;

import org.jspecify.annotations.NullMarked;
