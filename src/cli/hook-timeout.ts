/** How long a hook may take. Its first process and the one that judges use the same limit. */

/**
 * Milliseconds that a hook may take, unless `--timeout-ms` says otherwise. A hook needs less than
 * a second of a processor, but on a busy machine it may wait many seconds for that. The limit is
 * below the 60 seconds that `hook install` gives to the agent, because an agent that stops waiting
 * may let the call run.
 */
export const hookTimeoutMs = 50_000;
