/** Sizes, durations and progress as statuses and columns show them. */
@NullMarked
package dev.stasis.api.text;

import org.jspecify.annotations.NullMarked;
