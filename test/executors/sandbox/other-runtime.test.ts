/** Sandboxes on runtimes that only look like Node. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loadSandbox } from '../../../src/executors/sandbox/sandbox-executor.ts';
import { handlerOf, kinds, sandboxed } from './executors.ts';

const { versions } = process;
afterEach(() => {
  Object.defineProperty(process, 'versions', { value: versions, configurable: true });
});

function pretend(more: object): void {
  Object.defineProperty(process, 'versions', {
    value: { ...versions, ...more },
    configurable: true,
  });
}

describe.each(kinds)('%s', (kind, make) => {
  test.each([
    ['Bun 1.4.5', () => pretend({ bun: '1.4.5' })],
    ['Deno 2.9.6', () => pretend({ deno: '2.9.6' })],
    [
      "Cloudflare's runtime",
      () => void vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' }),
    ],
  ])('a call on %s says that it needs Node, each time', async (name, begin) => {
    begin();
    const executor = make({ module: handlerOf('probes'), export: 'gives' });
    const { run, registry } = sandboxed(executor);
    const expected = {
      code: 'sandbox_unavailable',
      reason: 'sandbox_unsupported',
      message:
        `The tool's sandbox could not be started: a sandbox in a ${kind} needs Node.js, and ` +
        `this is ${name}. Run the application with Node.js, or give the tool a handler or another ` +
        'executor.',
    };
    expect((await run({})).error).toMatchObject(expected);
    expect((await run({})).error).toMatchObject(expected);
    // `host-tools validate` starts sandboxes in this way.
    await expect(loadSandbox(executor, new AbortController().signal)).rejects.toMatchObject(
      expected,
    );
    await registry.close();
  });
});
