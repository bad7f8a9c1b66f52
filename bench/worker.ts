/**
 * One family of measurements in a process of its own, so that what one loads or warms up does not
 * change another's figures.
 */
import type { FamilyResult } from './targets.ts';

export const families = {
  calls: async () => (await import('./calls.ts')).measure(),
  bytes: async () => (await import('./bytes.ts')).measure(),
  rules: async () => (await import('./rules.ts')).measure(),
  audit: async () => (await import('./audit.ts')).measure(),
  stores: async () => (await import('./stores.ts')).measure(),
  otel: async () => (await import('./otel.ts')).measure(),
  idle: async () => (await import('./idle.ts')).measure(),
  registration: async () => (await import('./registration.ts')).measure(),
  listing: async () => (await import('./listing.ts')).measure(),
  sessions: async () => (await import('./sessions.ts')).measure(),
  origins: async () => (await import('./origins/measure.ts')).measure(),
  concurrency: async () => (await import('./concurrency.ts')).measure(),
  gateway: async () => (await import('./gateway.ts')).measure(),
  fleet: async () => (await import('./fleet.ts')).measure(),
  sandboxes: async () => (await import('./sandboxes/measure.ts')).measure(),
  code: async () => (await import('./code/measure.ts')).measure(),
  import: async () => (await import('./import.ts')).measure(),
  hook: async () => (await import('./hook.ts')).measure(),
  leak: async () => (await import('./leak.ts')).measure(),
  'peer-openai-agents': async () => (await import('./peers/openai-agents.ts')).measure(),
  'peer-mcp': async () => (await import('./peers/mcp.ts')).measure(),
  'peer-langchain': async () => (await import('./peers/langchain.ts')).measure(),
  'peer-mastra': async () => (await import('./peers/mastra.ts')).measure(),
  'peer-lists': async () => (await import('./peers/lists.ts')).measure(),
  'mcp-http': async () => (await import('./mcp/measure.ts')).measure(),
  soak: async () => (await import('./leak.ts')).soak(),
} as const satisfies Record<string, () => Promise<FamilyResult>>;

const family = families[process.argv[2] as keyof typeof families];
const result = await family();
process.send?.(result);
process.disconnect?.();
