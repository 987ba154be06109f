/** What the operator is put together from: clock, leader election, metrics. */
@NullMarked
package dev.stasis.operator;

import org.jspecify.annotations.NullMarked;
