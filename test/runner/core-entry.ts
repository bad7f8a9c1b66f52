/**
 * The entry `host-tools` with another registry: that of `host-tools/core`, with all parts given by
 * their subpaths, and not in the order in which `host-tools` gives them. With
 * `HOST_TOOLS_TEST_ENTRY=core`, the tests import this in place of `src/index.ts`.
 */
import { HostToolRegistry as CoreRegistry, type RegistryOptions } from '../../src/core.ts';
import { codeMode } from '../../src/parts/code/part.ts';
import { credentials } from '../../src/parts/credentials/part.ts';
import { delegation } from '../../src/parts/delegation/part.ts';
import { diagnostics } from '../../src/parts/diagnostics/part.ts';
import { discovery } from '../../src/parts/discovery/part.ts';
import { durableApprovals } from '../../src/parts/durable-approvals/part.ts';
import { explain } from '../../src/parts/explain/part.ts';
import { idempotency } from '../../src/parts/idempotency/part.ts';
import { jsonSchemas } from '../../src/parts/json-schema/part.ts';
import { lookAlikes } from '../../src/parts/look-alikes/part.ts';
import { offload } from '../../src/parts/offload/part.ts';
import { origins } from '../../src/parts/origins/part.ts';
import { quotas } from '../../src/parts/quotas/part.ts';
import { ruleReview } from '../../src/parts/rule-review/part.ts';
import { scopes } from '../../src/parts/scopes/part.ts';
import { secrets } from '../../src/parts/secrets/part.ts';
import { undo } from '../../src/parts/undo/part.ts';
import { versions } from '../../src/parts/versions/part.ts';

// biome-ignore lint/performance/noReExportAll: it stands for the entry
export * from '../../src/index.ts';

const parts = [
  versions(),
  scopes(),
  undo(),
  secrets(),
  ruleReview(),
  quotas(),
  origins(),
  offload(),
  lookAlikes(),
  jsonSchemas(),
  idempotency(),
  explain(),
  durableApprovals(),
  discovery(),
  diagnostics(),
  delegation(),
  credentials(),
  codeMode(),
];

export class HostToolRegistry<S = unknown> extends CoreRegistry<S> {
  constructor(options: RegistryOptions<S> = {}) {
    super(withParts(options));
  }
}

/** The same options, getters too. What is no object is for the registry to refuse. */
function withParts<S>(options: RegistryOptions<S>): RegistryOptions<S> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return options;
  const own = Object.getOwnPropertyDescriptors(options);
  return Object.create(Object.getPrototypeOf(options) as object | null, {
    ...own,
    parts: { value: parts, enumerable: true },
  }) as RegistryOptions<S>;
}
