/** What conditions look at. */

import { declaresPath } from '../../values/schema/local-reference.ts';
import type { Judged } from '../rules/judged.ts';
import type { FoundCall } from './call.ts';

/**
 * The canonical input, and the value that the schema parsed from it.
 * @param left The steps that may be taken.
 */
export function judgedOf(call: FoundCall, left: number): Judged {
  const { json } = call.binding.entry.internals.input;
  return {
    input: call.canonical,
    parsed: call.parsed,
    declares: (...path) => declaresPath(json, path),
    facts: call.session.facts,
    surface: call.surfaceName,
    call,
    attributes: call.session.registry.ports.attributesOf?.(call),
    left,
  };
}
