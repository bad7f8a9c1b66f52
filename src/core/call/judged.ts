/** What conditions look at. */

import type { JsonObject } from '../../values/json/index.ts';
import { declaresPath } from '../../values/schema/local-reference.ts';
import type { Judged } from '../rules/rule.ts';
import type { Binding } from './binding.ts';
import type { FoundCall } from './call.ts';
import type { RuleCount } from './counters.ts';

/** What rules know about a call that has no record yet. */
export interface UnrecordedCall extends Judged {
  readonly session: Binding['session'];
  readonly binding: Binding;
  readonly entry: Binding['entry'];
  matched: RuleCount[] | undefined;
}

/** The canonical input, and the value that the schema parsed from it. Read when a rule needs it. */
export class JudgedCall implements Judged {
  readonly call: FoundCall;
  left: number;

  /** @param left The steps that may be taken. */
  constructor(call: FoundCall, left: number) {
    this.call = call;
    this.left = left;
  }

  get input(): JsonObject {
    return this.call.canonical;
  }
  get parsed(): unknown {
    return this.call.parsed;
  }
  get facts(): JsonObject {
    return this.call.session.facts;
  }
  get surface(): string {
    return this.call.surfaceName;
  }
  get attributes(): ReadonlyMap<string, unknown> | undefined {
    return this.call.session.registry.ports.calls.attributesOf?.(this.call);
  }

  declares(...path: readonly string[]): boolean {
    return declaresPath(this.call.binding.entry.internals.input.json, path);
  }
}
