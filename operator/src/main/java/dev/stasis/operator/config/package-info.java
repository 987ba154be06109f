/** Settings of an installation, each with its default and the reason for it. */
@NullMarked
package dev.stasis.operator.config;

import org.jspecify.annotations.NullMarked;
