/**
 * The package in Cloudflare's runtime, which has no disk, and ties timers to the request in which
 * they were set.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Check } from './check.ts';
import { folder, type Subject, tools } from './subject.ts';

const require = createRequire(join(tools, 'package.json'));

interface Worker {
  readonly ready: Promise<URL>;
  dispatchFetch(url: string, init?: { readonly headers: object }): Promise<Response>;
  dispose(): Promise<void>;
}

/** Each request makes one call. The sessions outlive the requests. */
const program = `
import { AsyncLocalStorage } from 'node:async_hooks';
import { defineTool, HostToolRegistry } from 'host-tools';
import { z } from 'zod/v3';

const tenant = new AsyncLocalStorage();
const pause = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
const never = () => new Promise(() => {});
const aborts = [];
let began = false;
const untilAborted = (_, { signal }) =>
  new Promise(() => signal.addEventListener('abort', () => aborts.push(tenant.getStore())));
const make = (name, options) =>
  defineTool({ name, description: 'Waits.', parameters: { type: 'object' }, ...options });
const registry = new HostToolRegistry({ idempotency: { leaseMs: 600 }, graceMs: 100 });
registry.registerAll([
  make('quick', { timeoutMs: 5000, handler: () => pause(5, 'quick') }),
  make('late', { timeoutMs: 200, handler: untilAborted }),
  make('idle', { timeoutMs: 5000, idleTimeoutMs: 200, handler: never }),
  make('slow', { resourceKey: 'a', handler: () => pause(400, 'slow') }),
  make('next', { resourceKey: 'a', handler: () => 'next' }),
  make('gone', {
    resourceKey: 'b',
    timeoutMs: 2_000,
    handler: () => {
      began = true;
      return never();
    },
  }),
  make('after', { resourceKey: 'b', handler: () => 'after' }),
  make('asks', { requiresApproval: true, handler: () => 'asked' }),
]);
const session = registry.createSession({
  sessionId: 's',
  limits: { queueTimeoutMs: 900 },
  approver: never,
  approvalTimeoutMs: 200,
});
const guard = new HostToolRegistry({
  rules: [{ effect: 'deny', when: { to: { origin: 'untrusted' } } }],
});
guard.register(make('send', { handler: () => 'sent' }));
const guarded = guard.createSession({ sessionId: 'g' });
const brief = ({ success, output, error }) => (success ? output : error.reason);

export default {
  async fetch(request) {
    const name = new URL(request.url).pathname.slice(1);
    if (name === 'aborts') return Response.json(aborts);
    if (name === 'began') return Response.json(began);
    if (name === 'long') guarded.said('lorem ipsum dolor sit amet '.repeat(150_000));
    if (name === 'send') return Response.json(brief(await guarded.call('send', { to: 'x' })));
    if (name === 'zod3')
      try {
        guard.register(make('three', { parameters: z.object({}), handler: never }));
        return Response.json('registered');
      } catch (error) {
        return Response.json([error.code, error.message]);
      }
    if (name === 'long') return Response.json('remembered');
    const { searchParams } = new URL(request.url);
    const options = searchParams.has('key') ? { idempotencyKey: searchParams.get('key') } : {};
    const of = request.headers.get('tenant') ?? 'nobody';
    return Response.json(brief(await tenant.run(of, () => session.call(name, {}, options))));
  },
};
`;

export function workerChecks(subject: Subject): Check[] {
  const { version } = require('workerd/package.json') as { readonly version: string };
  const check = (what: string, run: (world: World) => Promise<void>): Check => ({
    name: `workerd ${version}: ${what}`,
    run: () => inWorker(subject, what, run),
  });
  return [
    check('a call times out although the request that came first has ended', async ({ get }) => {
      assert.equal(await get('quick'), 'quick');
      assert.equal(await get('late'), 'timeout');
      assert.deepEqual(await Promise.all([get('quick'), get('idle')]), ['quick', 'idle_timeout']);
      assert.equal(await get('asks'), 'timeout');
    }),
    check('the listeners of a call run in its own context', async ({ get }) => {
      const tenants = ['acme', 'globex', 'initech'];
      await Promise.all(tenants.map((one) => get('late', one)));
      assert.deepEqual((await get('aborts')) as string[], tenants);
    }),
    check('requests wait for each other', async ({ get }) => {
      const both = Promise.all([get('slow'), get('next')]);
      assert.deepEqual(await both, ['slow', 'next']);
      const keyed = Promise.all([get('slow?key=k'), get('slow?key=k')]);
      assert.deepEqual(await keyed, ['slow', 'slow']);
    }),
    check('what a cancelled request holds is given back', async ({ get, cancel }) => {
      assert.equal(await get('quick'), 'quick');
      await cancel('gone', () => get('began'));
      assert.equal(await get('after'), 'queue_timeout');
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      await get('after');
      assert.equal(await get('after'), 'after');
    }),
    check('a long text is remembered although its request has ended', async ({ get }) => {
      assert.equal(await get('long'), 'remembered');
      assert.equal(await get('send'), 'sent');
    }),
    check('a package that cannot be looked up is named', async ({ get }) => {
      const [code, message] = (await get('zod3')) as string[];
      assert.equal(code, 'missing_dependency');
      assert.match(
        message as string,
        /`zod-to-json-schema`.* Where packages cannot be looked up, use zod 4/,
      );
    }),
  ];
}

interface World {
  /** What a request answers. */
  get(path: string, tenant?: string): Promise<unknown>;
  /** Makes a request, and cancels it once its call has begun. */
  cancel(path: string, began: () => Promise<unknown>): Promise<void>;
}

async function inWorker(
  subject: Subject,
  name: string,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const { build } = (await load('esbuild')) as { build(options: object): Promise<unknown> };
  const { Miniflare } = (await load('miniflare')) as { Miniflare: new (options: object) => Worker };
  // In the project, so that the installed package is found.
  const place = folder(subject, `project/worker ${name}`.replaceAll(' ', '-'));
  const [entry, bundle] = [join(place, 'in.mjs'), join(place, 'out.mjs')];
  writeFileSync(entry, program);
  await build({
    entryPoints: [entry],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'import'],
    external: ['node:*', 'cloudflare:*'],
    logLevel: 'error',
  });
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'out.mjs', contents: readFileSync(bundle, 'utf8') }],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
  });
  try {
    await run({
      async get(path, tenant = 'nobody') {
        const answer = await worker.dispatchFetch(`http://localhost/${path}`, {
          headers: { tenant },
        });
        const text = await answer.text();
        assert.equal(answer.status, 200, text);
        return JSON.parse(text);
      },
      async cancel(path, began) {
        const controller = new AbortController();
        const url = new URL(path, await worker.ready);
        const cancelled = assert.rejects(fetch(url, { signal: controller.signal }));
        while ((await began()) !== true) await new Promise((resolve) => setTimeout(resolve, 5));
        controller.abort();
        await cancelled;
      },
    });
  } finally {
    await worker.dispose();
  }
}

function load(name: string): Promise<unknown> {
  return import(pathToFileURL(require.resolve(name)).href);
}
