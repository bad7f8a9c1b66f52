import { type Decision, type Fail, fail, type PolicyCall } from '../../../src/index.ts';
import { inFolderOf, look, PathRefused } from './confined.ts';

// A missing file is no matter of policy: the tool itself says so.
const NOT_DENIED = new Set(['not_found', 'not_a_file', 'not_a_folder']);

/** The folder that a file tool stays below: the profile's, or else the session's working folder. */
export function rootOf(
  knobs: { readonly root?: string | undefined },
  context: { readonly cwd: string },
): string {
  return knobs.root ?? context.cwd;
}

/**
 * Denies a path that leaves the root, before anything runs and before a person is asked. It is a
 * courtesy to the reader of the record: what holds is the opening in the handler, which refuses the
 * same paths again, by what it really opens.
 */
export async function judgePath({
  input,
  knobs,
  context,
  allow,
  deny,
}: PolicyCall<{ path: string }, { root?: string | undefined }, unknown>): Promise<Decision> {
  const root = rootOf(knobs, context);
  if (root === '') return deny('no_root', 'neither the profile nor the session names a folder');
  try {
    await inFolderOf(root, input.path, look);
  } catch (error) {
    if (!(error instanceof PathRefused)) throw error;
    if (!NOT_DENIED.has(error.reason)) return deny(error.reason, error.message);
  }
  return allow();
}

/** A refused path as the tool's failure; anything else goes on as it came. */
export function pathFailure(error: unknown): Fail {
  if (error instanceof PathRefused) return fail({ message: error.message, reason: error.reason });
  throw error;
}
