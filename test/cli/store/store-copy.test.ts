/** `store copy`: what is copied, that it can be repeated, and what is refused. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { openStore } from '../../../src/stores/open/open-store.ts';
import { readStoreAddress } from '../../../src/stores/open/store-address.ts';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
  whyNot,
} from '../../stores/postgres/postgres-server.ts';
import { tool } from '../../surfaces/audit/kit.ts';
import { folder } from '../../surfaces/config/folder.ts';
import { cli } from '../cli-run.ts';
import { connect, serve } from '../served-gateway.ts';

demandPostgres();

async function open(url: string): Promise<Store> {
  const opened = await openStore(readStoreAddress(url, '/', {}), { note: () => {} });
  onTestFinished(() => opened.close());
  return opened.store as Store;
}

const secret = 's'.repeat(32);

/** Suspends calls and records them. Returns tokens. */
async function use(store: Store, calls: number): Promise<string[]> {
  const registry = new HostToolRegistry({
    store,
    approvals: { secret },
    rules: [{ effect: 'ask', tools: 't' }],
  });
  registry.register(tool('t'));
  const audit = createAuditLog({ store });
  audit.attach(registry);
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const tokens: string[] = [];
  for (let n = 0; n < calls; n++) {
    const result = await session.call('t', { n });
    tokens.push(('approval' in result ? result.approval?.token : undefined) ?? '');
  }
  await registry.close();
  await audit.close();
  return tokens;
}

/** Answers a call in another registry. */
async function answer(store: Store, token: string): Promise<string | undefined> {
  const registry = new HostToolRegistry({ store, approvals: { secret } });
  registry.register(tool('t'));
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const result = await session.approvals.resume(token, 'allow_once');
  await registry.close();
  return result.success ? 'ran' : result.error?.reason;
}

describe.skipIf(!postgresAvailable)(`from a file to PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  let count = 0;
  const urlIn = () =>
    `postgres://postgres:s3cret@127.0.0.1:${server.port}/postgres?schema=c${++count}`;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  test('approvals that wait and the audit log are copied, and nothing twice', async () => {
    const { path: cwd, at } = folder();
    const [from, to] = [`sqlite:${at('a.db')}`, urlIn()];
    const copy = async () => {
      const { exit, stdout, stderr } = await cli(['store', 'copy', from, to, '--json'], { cwd });
      expect([exit, stderr]).toEqual([0, '']);
      expect(stdout).not.toContain('s3cret');
      return JSON.parse(stdout) as object;
    };
    const source = await open(from);
    const tokens = await use(source, 3);
    expect(await copy()).toMatchObject({
      approvals: { copied: 3, present: 0 },
      audit: { chains: 1, copied: 3, present: 0 },
      notCopied: expect.arrayContaining(['what quotas have counted']),
    });
    const target = await open(to);
    expect(await verifyAudit({ store: target })).toEqual(await verifyAudit({ store: source }));
    expect(await answer(target, tokens[0] as string)).toBe('ran');
    // What was answered there does not come back, and what came since is added.
    const more = await use(source, 2);
    expect(await copy()).toMatchObject({
      approvals: { copied: 2, present: 3 },
      audit: { chains: 1, copied: 2, present: 3 },
    });
    expect(await answer(target, tokens[0] as string)).toBe('token_used');
    expect(await answer(target, more[1] as string)).toBe('ran');
    expect(await verifyAudit({ store: target })).toMatchObject({ ok: true, lines: 5 });
    // The next writer goes on with the chain, which was closed.
    await use(target, 1);
    expect(await verifyAudit({ store: target })).toMatchObject({ ok: true, lines: 6 });
  });

  test('a store with an audit log of its own is refused', async () => {
    const { path: cwd, at } = folder();
    const [from, to] = [`sqlite:${at('a.db')}`, urlIn()];
    await use(await open(from), 1);
    await use(await open(to), 1);
    const ran = await cli(['store', 'copy', from, to], { cwd });
    expect(ran).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/Chain 1 of the audit log there is not the beginning/),
    });
  });

  test('approvals of a folder of `serve` are answered after the move', async () => {
    const kept = fileURLToPath(new URL('../fixtures/gateway-server.mjs', import.meta.url));
    const common = {
      mcpServers: { kept: { command: process.execPath, args: [kept] } },
      rules: [{ effect: 'ask', tools: 'kept.remove' }],
    };
    const made = folder({
      'gateway.json': { ...common, approvals: { dir: 'waiting', page: true } },
    });
    const old = await serve(made.path);
    await (await connect(old.mcp)).remove('a');
    await old.end();
    const url = urlIn();
    const ran = await cli(['store', 'copy', 'file:./waiting', url], { cwd: made.path });
    expect(ran).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(
        /^From file:\.\/waiting to postgres:\S+:\n {2}1 waiting approval copied\n {2}0 lines copied of the audit log, in 0 chains\nNot copied: what quotas have counted, .*\.\n$/,
      ),
    });
    made.replace('gateway.json', { ...common, store: { url }, approvals: { page: true } });
    const now = await serve(made.path);
    const { approvals = [] } = await now.ask('');
    expect((await now.ask(`/${approvals[0]?.id}`, { decision: 'allow_once' })).status).toBe(
      'succeeded',
    );
    await now.end();
    // A store that `serve` has used has a key of its own.
    const other = folder({
      'gateway.json': { ...common, store: { url: urlIn() }, approvals: { page: true } },
    });
    const used = await serve(other.path);
    await (await connect(used.mcp)).remove('b');
    await used.end();
    const between = await cli(['store', 'copy', urlOf(other.at('gateway.json')), url]);
    expect(between).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/sign approvals with different keys/),
    });
  });
});

function urlOf(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { store: { url: string } }).store.url;
}

test.each([
  [['sqlite:./a.db', 'file:./b'], 2, /`TO`: a folder has no audit log/],
  [['sqlite:./a.db', 'sqlite:a.db'], 2, /to be two stores/],
  [['file:./none', 'sqlite:./a.db'], 1, /There is no folder file:\.\/none/],
  [['sqlite:./none.db', 'sqlite:./a.db'], 1, /there is no such file/],
  [['sqlite:./a.db'], 2, /needs TO/],
])('store copy %j is refused', async (words, exit, message) => {
  const { path: cwd } = folder();
  expect(await cli(['store', 'copy', ...words], { cwd })).toMatchObject({
    exit,
    stderr: expect.stringMatching(message),
  });
});
