/** Tests of opening remote stores. */
@NullMarked
package dev.stasis.agent.daemon.remote;

import org.jspecify.annotations.NullMarked;
