/** What crosses the boundary of a sandbox: contexts, and messages of any length. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { runnerText } from '../../../src/executors/sandbox/runner-text.ts';
import { HostToolRegistry, type ToolContext } from '../../../src/index.ts';
import { handlerOf, kinds, sandboxed } from './executors.ts';

const probes = handlerOf('probes');

describe.each(kinds)('%s', (_kind, make) => {
  test('each call has the context of its own session, which crosses when it changes', async () => {
    const executor = make({ module: probes, export: 'said', pool: { max: 1 } });
    const { registry } = sandboxed(executor);
    const sessionOf = (name: string) =>
      registry.createSession({
        sessionId: name,
        cwd: `/${name}`,
        environment: { NAME: name },
        metadata: { user: { name } },
      });
    const sessions = { a: sessionOf('a'), b: sessionOf('b') };
    for (const [at, name] of (['a', 'a', 'b', 'b', 'a'] as const).entries()) {
      const options = { callId: `call-${at}`, idempotencyKey: `key-${at}` };
      const { output } = await sessions[name].call('sandboxed', {}, options);
      expect(output).toEqual({
        sessionId: name,
        cwd: `/${name}`,
        environment: { NAME: name },
        metadata: { user: { name } },
        ...options,
        timed: true,
        frozen: true,
      });
    }
    await registry.close();
  });

  test('a call without a deadline has none, although the one before had one', async () => {
    const executor = make({ module: probes, export: 'said', pool: { max: 1 } });
    const environment = Object.freeze({});
    const metadata = Object.freeze({ user: Object.freeze({}) });
    const timed: unknown[] = [];
    for (const deadline of [Date.now() + 60_000, undefined]) {
      const given = { signal: new AbortController().signal, environment, metadata, deadline };
      const output = await executor.execute({}, given as unknown as ToolContext);
      timed.push((output as { timed: boolean }).timed);
    }
    expect(timed).toEqual([true, false]);
    await executor.dispose?.();
  });

  test('events before it hold up no output, however long it is', async () => {
    const executor = make({ module: probes, export: 'saysMuch' });
    const { run, registry } = sandboxed(executor, { maxOutputChars: 10_000_000 });
    const { output } = await run({ events: 10, chars: 3_900_000 });
    expect(String(output).length).toBe(3_900_000);
    await registry.close();
  });

  test('an output that loses data there is named in the log, once', async () => {
    const lines: { data: object; message: string }[] = [];
    const warn = (data: object, message: string): unknown => lines.push({ data, message });
    const registry = new HostToolRegistry({ logger: { warn, error: warn } });
    const { run } = sandboxed(make({ module: probes, export: 'givesResponse' }), {}, registry);
    const { output } = await run({});
    expect((await run({})).success).toBe(true);
    expect(output).toEqual({ pages: [{}] });
    expect(lines).toEqual([
      {
        data: expect.objectContaining({ toolName: 'sandboxed', type: 'Response' }),
        message: expect.stringMatching(/has a Response .*await response\.text\(\)/),
      },
    ]);
    await registry.close();
  });

  test('an input may be longer than what is read at once', async () => {
    const { run, registry } = sandboxed(make({ module: probes, export: 'gives' }));
    const texts = ['a', 'ä'.repeat(200_000), '', '𝄞'.repeat(50_000), 'end'];
    const outputs = await Promise.all(texts.map(async (text) => (await run({ text })).output));
    expect(outputs).toEqual(texts.map((text) => ({ text })));
    await registry.close();
  });
});

test('a process ends when its host closes the channel', async () => {
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const;
  const child = spawn(process.execPath, ['-e', await runnerText()], { stdio: [...stdio] });
  const channel = child.stdio[3] as Socket;
  await once(channel, 'data');
  channel.destroy();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
