/**
 * What a selector of labels or of nodes matches, decided as the API server and the scheduler do.
 */
@NullMarked
package dev.stasis.operator.selector;

import org.jspecify.annotations.NullMarked;
