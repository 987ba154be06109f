/** Fields of log lines. */
@NullMarked
package dev.stasis.operator.log;

import org.jspecify.annotations.NullMarked;
