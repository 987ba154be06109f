/** Evaluates label and node selectors as the API server and the scheduler do. */
@NullMarked
package dev.stasis.operator.selector;

import org.jspecify.annotations.NullMarked;
