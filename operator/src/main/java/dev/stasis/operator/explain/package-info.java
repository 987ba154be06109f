/** What a freeze would do, without doing it: the answer to explainOnly, and to "why not there". */
@NullMarked
package dev.stasis.operator.explain;

import org.jspecify.annotations.NullMarked;
