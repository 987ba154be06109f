/**
 * Reading what a newer release has written. Definitions are upgraded first, so operator and agents
 * of before meet fields that they do not know, until they are replaced.
 */
@NullMarked
package dev.stasis.api.skew;

import org.jspecify.annotations.NullMarked;
