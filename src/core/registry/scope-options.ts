/** The options of a scope, and their checks. */

import type { Rule } from '../../api/rule.ts';
import { anything, kind, type TableOf, text, withDefault } from '../../values/options/index.ts';

/** Options of `HostToolRegistry.scope`. */
export interface ScopeOptions {
  /** Prepended to the name of each of the scope's tools. @default "" */
  readonly prefix?: string | undefined;
  /** Rules for the scope's own tools. @default none */
  readonly rules?: readonly Rule[] | undefined;
}

/** The source of the tools that the host registers itself. */
export const host = 'host';

export const scopeTable = {
  prefix: withDefault(text(), ''),
  rules: anything<readonly Rule[]>(),
} satisfies TableOf<ScopeOptions>;

export const scopeSource = kind<string>(
  'a non-blank string other than "host" and "session"',
  (value) =>
    typeof value === 'string' && value.trim() !== '' && value !== host && value !== 'session',
);
