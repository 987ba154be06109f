/**
 * What happened when, as spans that operator and agents write apart and a collector puts together.
 */
@NullMarked
package dev.stasis.trace;

import org.jspecify.annotations.NullMarked;
