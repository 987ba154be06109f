/** Room for the device memory of a pod by in-place resize: what is asked, planned and answered. */
@NullMarked
package dev.stasis.operator.resize;

import org.jspecify.annotations.NullMarked;
