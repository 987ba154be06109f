/**
 * The timeline of operations as spans, which operator and agents export separately and a collector
 * combines.
 */
@NullMarked
package dev.stasis.trace;

import org.jspecify.annotations.NullMarked;
