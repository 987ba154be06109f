/** Diagnoses a cluster from the state that was read; sends no requests. */
@NullMarked
package dev.stasis.kubectl.doctor;

import org.jspecify.annotations.NullMarked;
