/** Programs of the operator's image that the chart runs beside the operator. */
@NullMarked
package dev.stasis.operator.cli;

import org.jspecify.annotations.NullMarked;
