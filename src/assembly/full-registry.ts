/** The registry with all parts. */

import type { RegistryOptions } from '../api/registry.ts';
import type { Part } from '../core/part.ts';
import { RegistryParts } from '../core/registry/define-part.ts';
import { codeMode } from '../parts/code/part.ts';
import { credentials } from '../parts/credentials/part.ts';
import { delegation } from '../parts/delegation/part.ts';
import { diagnostics } from '../parts/diagnostics/part.ts';
import { discovery } from '../parts/discovery/part.ts';
import { durableApprovals } from '../parts/durable-approvals/part.ts';
import { explain } from '../parts/explain/part.ts';
import { idempotency } from '../parts/idempotency/part.ts';
import { jsonSchemas } from '../parts/json-schema/part.ts';
import { lookAlikes } from '../parts/look-alikes/part.ts';
import { offload } from '../parts/offload/part.ts';
import { origins } from '../parts/origins/part.ts';
import { quotas } from '../parts/quotas/part.ts';
import { ruleReview } from '../parts/rule-review/part.ts';
import { scopes } from '../parts/scopes/part.ts';
import { secrets } from '../parts/secrets/part.ts';
import { undo } from '../parts/undo/part.ts';
import { versions } from '../parts/versions/part.ts';
import { HostToolRegistry as CoreRegistry, Given } from './core-registry.ts';

const all: readonly Part[] = [
  jsonSchemas(),
  lookAlikes(),
  ruleReview(),
  idempotency(),
  explain(),
  origins(),
  quotas(),
  offload(),
  discovery(),
  secrets(),
  durableApprovals(),
  versions(),
  scopes(),
  undo(),
  diagnostics(),
  codeMode(),
  delegation(),
  credentials(),
];
/** No part is absent, so nothing is looked up in the table of those that may be. */
export const everything = new RegistryParts(all);

/**
 * Holds definitions, rules and profiles, and creates sessions over them. An application makes one;
 * `hostToolRegistry`, in lower case, is one without options that exists already. Methods that
 * change a registry are synchronous. If they are misused, they throw a {@link MisuseError} and
 * change nothing.
 * @typeParam S What its tools need as `context.services`.
 *
 * @example
 * ```ts
 * import { defineTool, HostToolRegistry } from 'host-tools';
 * import { z } from 'zod';
 *
 * const registry = new HostToolRegistry({ rules: [{ effect: 'ask', tools: 'delete_*' }] });
 * registry.register(
 *   defineTool({
 *     name: 'delete_file',
 *     description: 'Deletes a file of the project.',
 *     parameters: z.object({ path: z.string() }),
 *     handler: async ({ path }) => `${path} is gone`,
 *   }),
 * );
 * const session = registry.createSession({ sessionId: 's1', approver: () => 'allow_once' });
 * const result = await session.call('delete_file', { path: 'a.txt' });
 * ```
 */
export class HostToolRegistry<S = unknown> extends CoreRegistry<S> {
  constructor(options: RegistryOptions<S> = {}) {
    super(new Given(options, everything) as RegistryOptions<S>);
  }
}
