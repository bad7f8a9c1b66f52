/** Approvals of a gateway: calls that are kept, answered on the page, and run after a restart. */
import { chmodSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyAudit } from '../../src/surfaces/audit/index.ts';
import { chromiumAvailable, demandChromium, launchChromium, whyNot } from '../examples/chromium.ts';
import { folder } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';
import { connect, serve } from './served-gateway.ts';
import { until } from './until.ts';

demandChromium();

const kept = fileURLToPath(new URL('./fixtures/gateway-server.mjs', import.meta.url));
const gateway = (approvals?: object) => ({
  mcpServers: { kept: { command: process.execPath, args: [kept] } },
  rules: [{ effect: 'ask', tools: 'kept.remove' }],
  audit: { path: 'audit.jsonl' },
  ...(approvals === undefined ? {} : { approvals }),
});

describe('a call that asks', () => {
  test('is asked about in a client that can be asked, and nothing is left', async () => {
    const { path } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const { mcp, ask } = await serve(path);
    const { remove, questions } = await connect(mcp, 'allow_once');
    expect((await remove('a')).content).toMatchObject([{ text: 'done' }]);
    expect(questions).toEqual([expect.stringContaining('kept.remove')]);
    expect(await ask('')).toMatchObject({ status: 200, approvals: [] });
    expect((await connect(mcp, 'reject_once').then((one) => one.remove('b')))._meta).toMatchObject({
      'host-tools/error': { code: 'approval_denied' },
    });
  });

  test('is kept for a client that cannot be asked, and runs when the page allows it', async () => {
    const { path, at } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const { mcp, ask, end } = await serve(path);
    const { remove, client } = await connect(mcp);
    expect((await remove('a'))._meta).toMatchObject({
      'host-tools/error': { code: 'approval_pending' },
    });
    expect((await ask('', undefined, 'x')).status).toBe(401);
    const [open, ...others] = (await ask('')).approvals ?? [];
    expect(others).toEqual([]);
    expect(open).toMatchObject({ tool: { name: 'kept.remove' }, principal: 'ann' });
    expect(await ask(`/${open?.id}`, { decision: 'allow_once' })).toMatchObject({
      status: 'succeeded',
    });
    expect((await ask('')).approvals).toEqual([]);
    await client.close();
    await end();
    expect(await verifyAudit(at('audit.jsonl'))).toMatchObject({ ok: true });
  });

  test('survives a restart: an answer then makes its session again and runs it', async () => {
    const { path, at } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const first = await serve(path);
    const { remove, client } = await connect(first.mcp);
    await remove('a');
    const [open] = (await first.ask('')).approvals ?? [];
    await client.close();
    await first.end();
    expect(statSync(at('waiting/secret')).mode & 0o777).toBe(0o600);
    const second = await serve(path);
    const [again] = (await second.ask('')).approvals ?? [];
    expect(again).toEqual(open);
    expect(await second.ask(`/${open?.id}`, { decision: 'allow_once' })).toMatchObject({
      status: 'succeeded',
    });
    expect((await second.ask(`/${open?.id}`, { decision: 'allow_once' })).status).toBe(409);
  });

  test('of two clients, each has a session of its own', async () => {
    const { path } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const { mcp, ask } = await serve(path);
    for (const text of ['a', 'b']) await (await connect(mcp)).remove(text);
    const ids = (await ask('')).approvals?.map(({ sessionId }) => sessionId) ?? [];
    expect(new Set(ids).size).toBe(2);
  });
});

describe('what strangers get', () => {
  test('is the page, which has no approvals, and nothing else', async () => {
    const { path } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const { mcp, address } = await serve(path);
    await (await connect(mcp)).remove('a thing that only the approval names');
    const page = address.replace(/#.*/, '');
    const got = await fetch(page);
    expect([got.status, got.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(await got.text()).not.toContain('a thing that only the approval names');
    const moved = await fetch(page.replace(/\/$/, ''), { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'approvals/']);
    for (const [method, at] of [
      ['GET', 'api/approvals'],
      ['GET', 'api/approvals/x'],
      ['POST', 'api/approvals/x'],
      ['POST', ''],
      ['GET', 'x'],
      ['GET', '/'],
      ['GET', 'api/approvals/..%2f'],
    ] as const)
      expect([method, at, (await fetch(page + at, { method })).status]).toEqual([method, at, 401]);
    expect((await fetch(page.replace('/approvals/', '/approvalsx'))).status).toBe(404);
  });
});

describe.skipIf(!chromiumAvailable)(`the printed address, in Chromium${whyNot}`, () => {
  test('shows what waits, and answers it, also without the slash and after a restart', async () => {
    const { path } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const first = await serve(path);
    const { remove, client } = await connect(first.mcp);
    for (const text of ['one', 'two', 'three']) await remove(text);
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const allow = async (): Promise<void> => {
      await page.getByText('live', { exact: true }).waitFor();
      await page.getByRole('button', { name: /^Allow once/ }).click();
      await page.getByText('You have allowed this. The call succeeded.').first().waitFor();
    };
    const waiting = async (): Promise<number> => (await first.ask('')).approvals?.length ?? 0;
    await page.goto(first.address);
    await allow();
    expect(await waiting()).toBe(2);
    // The token is kept for the tab only.
    expect(page.url()).toBe(first.address.replace(/#.*/, ''));
    await page.reload();
    await page.getByText('2 calls waiting').waitFor();
    const other = await browser.newPage();
    await other.goto(page.url());
    await other.getByText('open that address again').waitFor();
    await other.goto(first.address.replace('/#', '#'));
    await other.getByText('2 calls waiting').waitFor();
    await client.close();
    await first.end();
    const second = await serve(path, new URL(first.address).port);
    await page.getByText('signed out', { exact: true }).waitFor();
    await page.goto(second.address);
    await allow();
    expect((await second.ask('')).approvals).toHaveLength(1);
  }, 900_000);
});

describe('a file with `approvals`', () => {
  test('does not serve if others can use its key', async () => {
    const { path, at } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    await (await serve(path)).end();
    chmodSync(at('waiting/secret'), 0o644);
    const { exit, stderr } = await cli(['serve', 'gateway.json', '--http', '0'], { cwd: path });
    expect(exit).toBe(1);
    expect(stderr).toContain('gateway.json:19: approvals[0]: others than its owner can use');
    expect(stderr).toContain('A place for approvals did not load');
  });

  test('says so if its page has no address', async () => {
    const { path } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const { exit, stderr } = await cli(['serve', 'gateway.json'], { cwd: path, stdin: '' });
    expect(exit).toBe(0);
    expect(stderr).toContain('the page of `approvals` needs an address: serve it with `--http`');
  });

  test('an edit of it is refused, and removing it waits for the next start', async () => {
    const { path, replace } = folder({ 'gateway.json': gateway({ dir: 'waiting', page: true }) });
    const { said, mcp } = await serve(path);
    replace('gateway.json', gateway({ dir: 'elsewhere', page: true }));
    await until(() => said().includes('where approvals are kept is read at the start only'));
    replace('gateway.json', gateway());
    await until(() => said().includes('stays in effect until the command starts again'));
    expect((await (await connect(mcp)).remove('a'))._meta).toMatchObject({
      'host-tools/error': { code: 'approval_pending' },
    });
  });
});

test('other commands leave the folder alone', async () => {
  const { path, at } = folder({ 'gateway.json': gateway({ dir: 'waiting' }) });
  expect((await cli(['list', '--host-tools', 'gateway.json'], { cwd: path })).exit).toBe(0);
  expect(() => statSync(at('waiting'))).toThrow('ENOENT');
});
