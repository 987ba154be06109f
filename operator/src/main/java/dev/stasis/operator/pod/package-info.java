/** Reads and writes pods of users. */
@NullMarked
package dev.stasis.operator.pod;

import org.jspecify.annotations.NullMarked;
