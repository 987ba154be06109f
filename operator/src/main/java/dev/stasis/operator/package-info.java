/** Assembles the operator: clock, leader election, metrics. */
@NullMarked
package dev.stasis.operator;

import org.jspecify.annotations.NullMarked;
