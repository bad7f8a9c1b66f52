/** Loads parts by their names, each when it is first asked for. */

import type { Part } from '../core/part.ts';

/** By the names of the table. */
export const partLoaders: Readonly<Record<string, () => Promise<Part>>> = {
  idempotency: async () => (await import('../parts/idempotency/part.ts')).idempotency(),
  jsonSchemas: async () => (await import('../parts/json-schema/part.ts')).jsonSchemas(),
  lookAlikes: async () => (await import('../parts/look-alikes/part.ts')).lookAlikes(),
  origins: async () => (await import('../parts/origins/part.ts')).origins(),
  quotas: async () => (await import('../parts/quotas/part.ts')).quotas(),
  offload: async () => (await import('../parts/offload/part.ts')).offload(),
  discovery: async () => (await import('../parts/discovery/part.ts')).discovery(),
  explain: async () => (await import('../parts/explain/part.ts')).explain(),
  codeMode: async () => (await import('../parts/code/part.ts')).codeMode(),
  credentials: async () => (await import('../parts/credentials/part.ts')).credentials(),
  delegation: async () => (await import('../parts/delegation/part.ts')).delegation(),
  diagnostics: async () => (await import('../parts/diagnostics/part.ts')).diagnostics(),
  durableApprovals: async () =>
    (await import('../parts/durable-approvals/part.ts')).durableApprovals(),
  undo: async () => (await import('../parts/undo/part.ts')).undo(),
  versions: async () => (await import('../parts/versions/part.ts')).versions(),
  ruleReview: async () => (await import('../parts/rule-review/part.ts')).ruleReview(),
  scopes: async () => (await import('../parts/scopes/part.ts')).scopes(),
  secrets: async () => (await import('../parts/secrets/part.ts')).secrets(),
};
