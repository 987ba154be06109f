/** Prepares new pods for a restore, if the user requests it, before they start. */
@NullMarked
package dev.stasis.operator.prepare;

import org.jspecify.annotations.NullMarked;
