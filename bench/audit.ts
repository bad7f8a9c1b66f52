/** What a line of an audit log costs a call, against writing the same line plainly. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostToolRegistry, type ToolSession } from '../src/index.ts';
import { createAuditLog } from '../src/surfaces/audit/index.ts';
import { input, zodTool } from './fixtures.ts';
import { type Case, compare } from './harness.ts';
import type { FamilyResult } from './targets.ts';

/**
 * Calls of one batch. Their lines wait at the same time, and are made safe once, as over a second.
 */
const batch = 4_000;

function sessionOf(): { registry: HostToolRegistry; session: ToolSession } {
  const registry = new HostToolRegistry();
  registry.register(zodTool);
  return { registry, session: registry.createSession({ sessionId: 'bench', principal: 'ann' }) };
}

export async function measure(): Promise<FamilyResult> {
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-bench-'));
  const path = join(folder, 'audit.jsonl');
  const audit = createAuditLog({ path });
  const fd = openSync(join(folder, 'plain.jsonl'), 'a');
  try {
    const plainCalls = sessionOf();
    const audited = sessionOf();
    audit.attach(audited.registry);
    await audited.session.call('forecast', input);
    await audit.flush();
    const line = JSON.parse(readFileSync(path, 'utf8')) as object;
    const batches = (name: string, run: () => void | Promise<void>): Case => ({
      name,
      run: async (times) => {
        for (let index = 0; index < times; index++) await run();
      },
    });
    const called = async ({ session }: { session: ToolSession }): Promise<void> => {
      for (let index = 0; index < batch; index++) await session.call('forecast', input);
    };
    const [plain, bare, full] = await compare(
      [
        batches('stringify and append', () => {
          for (let index = 0; index < batch; index++) writeSync(fd, `${JSON.stringify(line)}\n`);
        }),
        batches('calls', () => called(plainCalls)),
        batches('audited calls', async () => {
          await called(audited);
          await audit.flush();
        }),
      ],
      { sampleMs: 30 },
    );
    if (plain === undefined || bare === undefined || full === undefined) throw new Error('None.');
    const own = full.best - bare.best;
    return {
      rows: [
        {
          id: 'audit',
          value: own / plain.best,
          note: `${Math.round(plain.best / batch)} → ${Math.round(own / batch)} ns a call`,
        },
      ],
    };
  } finally {
    closeSync(fd);
    await audit.close();
    rmSync(folder, { recursive: true });
  }
}
