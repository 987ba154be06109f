/** What a label selector matches, decided as the API server decides it. */
@NullMarked
package dev.stasis.operator.selector;

import org.jspecify.annotations.NullMarked;
