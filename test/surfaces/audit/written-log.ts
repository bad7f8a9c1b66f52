/** A log with several files, for tests that only read it. */
import { join } from 'node:path';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';

/** Writes `audit.jsonl` with two older files and a key into a folder. Returns its path. */
export async function written(folder: string): Promise<string> {
  const path = join(folder, 'audit.jsonl');
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 't',
      description: 'Answers.',
      parameters: { type: 'object' },
      handler: () => 1,
    }),
  );
  const log = createAuditLog({ path, content: 'hashed', rotate: { maxBytes: 1_024 } });
  log.attach(registry);
  const session = registry.createSession({ sessionId: 's' });
  for (let n = 0; n < 5; n++) await session.call('t', { n });
  await log.close();
  await registry.close();
  return path;
}
