/** Reads a hook that a host adds to a session. */

import type { Hook } from '../../api/policy.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { checkSpelling } from '../../values/options/index.ts';

/** Wraps a hook of the host. @throws MisuseError if `hook` is not a hook. */
export function readHook(hook: unknown, at = 'use'): Hook {
  if (typeof hook === 'object' && hook !== null) checkSpelling(at, hook, ['before', 'after']);
  // A hook may be an instance of a host's class, so inherited members count, except those of
  // `Object.prototype`.
  const { before, after } = ownOrInherited(hook);
  if (
    (typeof before !== 'function' && typeof after !== 'function') ||
    (before !== undefined && typeof before !== 'function') ||
    (after !== undefined && typeof after !== 'function')
  ) {
    throw new MisuseError(
      'invalid_option',
      `${at}: expected an object with \`before\`, \`after\` or both, got ${describe(hook)}.`,
    );
  }
  return Object.freeze<Hook>({
    ...(before === undefined ? undefined : { before: before.bind(hook) }),
    ...(after === undefined ? undefined : { after: after.bind(hook) }),
    __proto__: null,
  } as Hook);
}

function ownOrInherited(hook: unknown): Partial<Hook> {
  if (typeof hook !== 'object' || hook === null) return {};
  const read = (name: 'before' | 'after'): unknown => {
    for (
      let at: object | null = hook;
      at !== null && at !== Object.prototype;
      at = Object.getPrototypeOf(at) as object | null
    )
      if (Object.hasOwn(at, name)) return (hook as Record<string, unknown>)[name];
    return undefined;
  };
  return { before: read('before'), after: read('after') } as Partial<Hook>;
}
