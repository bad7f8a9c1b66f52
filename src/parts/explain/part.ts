/** Explanations, permissions, attributes and shadow rules as a part of a registry. */

import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { nameOf } from '../../values/text/names.ts';
import { answersOf, attributeJudges, forgetAnswers } from './attribute-judge.ts';
import { authorize } from './authorize.ts';
import { explain as explainCall } from './explain.ts';
import { trials } from './shadow-rules.ts';

/**
 * The part that explains calls without running them: `session.explain`, `session.authorize` for
 * tools that other code runs, `attributes` of tools, and shadow rules.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { explain } from 'host-tools/explain';
 *
 * const registry = new HostToolRegistry({ parts: [explain()] });
 * const session = registry.createSession({ sessionId: 's1' });
 * console.log((await session.explain('add', { a: 1 })).code); // tool_not_found
 * ```
 */
export function explain(): Part {
  return part;
}

const part = definePart({
  name: 'explain',
  install(ports) {
    ports.calls.first.push(attributeJudges);
    ports.calls.attributesOf = (call) => answersOf(call)?.answers;
    ports.calls.again.push(forgetAnswers);
    ports.calls.trials = trials;
    ports.sessions.methods.set('explain', (session, tool: unknown, input: unknown) =>
      explainCall(session, nameOf(tool), input),
    );
    ports.sessions.methods.set('authorize', (session, tool: unknown, input: unknown, options) =>
      authorize(session, nameOf(tool), input, options),
    );
  },
});
