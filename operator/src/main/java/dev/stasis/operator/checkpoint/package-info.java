/**
 * GpuCheckpoint. A {@link dev.stasis.operator.checkpoint.Turn} is one look at one object; what is
 * decided follows from what is seen alone, so that an operator may be started anew at any moment.
 */
@NullMarked
package dev.stasis.operator.checkpoint;

import org.jspecify.annotations.NullMarked;
