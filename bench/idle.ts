/**
 * What an ordinary call costs once audit, telemetry and the approvals inbox are imported: nothing.
 * Two processes, one without them, take turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { HostToolRegistry } from '../src/index.ts';
import { input, sessionOver, zodTool } from './fixtures.ts';
import { quick } from './harness.ts';
import type { FamilyResult } from './targets.ts';

/** What a process has beside the core. */
const kinds = ['core', 'imported', 'attached'] as const;
type Kind = (typeof kinds)[number];

const callsOfSample = 20_000;

/** Runs in a process of its own: makes calls whenever it is asked, and tells nanoseconds of one. */
export async function serve(kind: Kind): Promise<void> {
  if (kind !== 'core') await imported(kind === 'attached');
  const { call } = sessionOver([zodTool]);
  process.on('message', async () => {
    const start = process.hrtime.bigint();
    for (let index = 0; index < callsOfSample; index++) await call('forecast', input);
    process.send?.(Number(process.hrtime.bigint() - start) / callsOfSample);
  });
  process.send?.(0);
}

/** @param attach Whether they are in use too, by another registry than the one that is measured. */
async function imported(attach: boolean): Promise<void> {
  const [{ createAuditLog }, { instrument }, { createApprovalsHandler }] = await Promise.all([
    import('../src/surfaces/audit/index.ts'),
    import('../src/surfaces/telemetry/otel/index.ts'),
    import('../src/surfaces/approvals/index.ts'),
    import('../src/surfaces/telemetry/prometheus/index.ts'),
  ]);
  if (!attach) return;
  const secret = 'a key of thirty-two bytes or more';
  const registry = new HostToolRegistry({ approvals: { secret } });
  registry.register(zodTool);
  const audit = createAuditLog({ sink: () => {} });
  audit.attach(registry);
  instrument(registry);
  createApprovalsHandler(registry, { authenticate: () => 'ann' });
  const session = registry.createSession({ sessionId: 'other' });
  for (let index = 0; index < callsOfSample; index++) await session.call('forecast', input);
  await audit.flush();
}

export async function measure(): Promise<FamilyResult> {
  const script = fileURLToPath(new URL('./idle-calls.js', import.meta.url));
  const children = kinds.map((kind) =>
    fork(script, [kind], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    for (let again = 0; again < 4; again++) for (const child of children) await sampleOf(child);
    const samples: number[][] = kinds.map(() => []);
    for (let round = 0; round < (quick ? 9 : 31); round++)
      for (let place = 0; place < children.length; place++) {
        const index = (place + round) % children.length;
        samples[index]?.push(await sampleOf(children[index] as ChildProcess));
      }
    const [core = [], own = [], beside = []] = samples;
    // The quickest rounds: what disturbs one process in a round does not disturb the others.
    const [best, ownBest, besideBest] = [core, own, beside].map((all) => Math.min(...all)) as [
      number,
      number,
      number,
    ];
    const figures = (other: number): string => `${Math.round(best)} → ${Math.round(other)} ns`;
    return {
      rows: [
        { id: 'idle', value: ownBest / best, note: figures(ownBest) },
        {
          what: 'a call beside another registry that is audited and traced',
          value: besideBest / best,
          unit: '×',
          note: figures(besideBest),
        },
      ],
    };
  } finally {
    for (const child of children) child.disconnect();
  }
}

async function sampleOf(child: ChildProcess): Promise<number> {
  child.send('sample');
  const [ns] = (await once(child, 'message')) as [number];
  return ns;
}
