/** What users asked for and what became of it, as the traces of which the agents' are parts. */
@NullMarked
package dev.stasis.operator.trace;

import org.jspecify.annotations.NullMarked;
