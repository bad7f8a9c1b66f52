/** Sandboxes need Node: its threads, its flags and its permissions. */
import { unavailableFault } from './fault.ts';

/**
 * The name of this runtime if it is not Node. Others imitate Node's threads and processes, but not
 * all of what a sandbox relies on.
 */
function otherRuntime(): string | undefined {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return `Bun ${bun}`;
  if (deno !== undefined) return `Deno ${deno}`;
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers' ? "Cloudflare's runtime" : undefined;
}

/** @throws an error that ends the call as `sandbox_unavailable` */
export function checkRuntime(kind: 'thread' | 'process'): void {
  const other = otherRuntime();
  if (other === undefined) return;
  throw unavailableFault(
    'sandbox_unsupported',
    `The tool's sandbox could not be started: a sandbox in a ${kind} needs Node.js, and this is ` +
      `${other}. Run the application with Node.js, or give the tool a handler or another executor.`,
  );
}
