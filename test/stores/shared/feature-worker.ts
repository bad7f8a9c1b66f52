/**
 * A process that calls tools, or answers approvals, until it is killed. It says when a handler
 * begins: `node feature-worker.js spend|answer|hang STORE…`, as `openStore` reads it.
 */
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { featureHost } from './feature-host.ts';
import { openStore } from './open-store.ts';

const [mode, ...where] = process.argv.slice(2);
const registry = featureHost(openStore(where), async ({ key }) => {
  writeSync(1, `${key}\n`);
  await (mode === 'hang' ? new Promise(() => {}) : pause(2));
  return 'ran';
});
const session = registry.createSession({ sessionId: 's', principal: 'ann' });

for (;;) {
  if (mode === 'spend')
    // The keys are those of every such process.
    for (let n = 0; n < 60; n += 4)
      await Promise.all(
        [n, n + 1, n + 2, n + 3].map((one) =>
          session.call('pay', { key: `k${one}` }, { idempotencyKey: `k${one}`, timeoutMs: 200 }),
        ),
      );
  else
    for (const { id } of await registry.approvals.list().catch(() => []))
      await registry.approvals.answer(id, { decision: 'allow_once', by: 'bob' });
  await pause(5);
}
