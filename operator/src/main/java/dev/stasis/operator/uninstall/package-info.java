/** What has to be over before Stasis may go: decided from what was read, without a cluster. */
@NullMarked
package dev.stasis.operator.uninstall;

import org.jspecify.annotations.NullMarked;
