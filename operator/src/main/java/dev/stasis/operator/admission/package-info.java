/**
 * The operator's admission webhooks: one HTTPS endpoint, its certificate, and the hooks that
 * answer.
 */
@NullMarked
package dev.stasis.operator.admission;

import org.jspecify.annotations.NullMarked;
