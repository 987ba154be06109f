/**
 * What a status says: conditions that keep their times, phases with theirs, words for people, and
 * whether anything has changed that is worth a write.
 */
@NullMarked
package dev.stasis.operator.status;

import org.jspecify.annotations.NullMarked;
