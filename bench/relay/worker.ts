/** One family of the relay's measurements: the client's side, in a process of its own. */
import type { FamilyResult } from '../targets.ts';
import type { RelayFamily } from './families.ts';

const families = {
  trips: async () => (await import('./trips.ts')).measure(),
  operations: async () => (await import('./operations.ts')).measure(),
  requests: async () => (await import('./requests.ts')).measure(),
  ways: async () => (await import('./ways.ts')).measure(),
  creating: async () => (await import('./creating.ts')).measure(),
  memory: async () => (await import('./memory.ts')).measure(),
  streams: async () => (await import('./streams.ts')).measure(),
  updates: async () => (await import('./updates.ts')).measure(),
  floods: async () => (await import('./floods.ts')).measure(),
  sizing: async () => (await import('./sizing.ts')).measure(),
} as const satisfies Record<RelayFamily, () => Promise<FamilyResult>>;

const result = await families[process.argv[2] as RelayFamily]();
process.send?.(result);
process.disconnect?.();
