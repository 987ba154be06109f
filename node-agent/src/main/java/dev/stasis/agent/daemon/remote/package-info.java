/** Remote stores: opened with the credentials and keys of their Secrets. */
@NullMarked
package dev.stasis.agent.daemon.remote;

import org.jspecify.annotations.NullMarked;
