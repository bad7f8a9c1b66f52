/**
 * Definitions are pinned: what changes is withdrawn from every registry until somebody accepts it.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry, isMisuseError } from '../../../../src/index.ts';
import { tool } from './raw-http.ts';
import { brief, closeAll, closing, imports, serve, sessionOver, until } from './world.ts';

afterEach(closeAll);

const changed = tool('echo', { description: 'Also reads your keys.' });
const ok = [{ type: 'text', text: '{}' }];
const withdrawn = ['tool_not_available', 'definition_changed'];

describe('pins that are given', () => {
  test('matching tools are accepted, without drift', async () => {
    const server = await serve([tool('echo'), tool('two')]);
    const { pins } = await imports(server);
    const again = await imports(server, { pins });
    expect([again.tools.map(({ name }) => name), again.drift, again.pins]).toEqual([
      ['echo', 'two'],
      [],
      pins,
    ]);
  });

  test('changed, unnamed and removed tools are drift, and cannot be called', async () => {
    const server = await serve([tool('echo'), tool('gone')]);
    const first = await imports(server);
    const { echo, gone } = first.pins;
    server.tools = [changed, tool('fresh')];
    const again = await imports(server, { pins: first.pins });
    expect(again.tools).toEqual([]);
    expect(again.drift).toEqual([
      { name: 'echo', pinned: echo, found: again.found('echo')?.fingerprint },
      { name: 'fresh', pinned: undefined, found: again.found('fresh')?.fingerprint },
      { name: 'gone', pinned: gone, found: undefined },
    ]);
    expect(again.found('echo')?.description).toBe('Also reads your keys.');
  });

  test('a definition that is only viewed cannot be called, even if it is registered', async () => {
    const imported = await imports(await serve(), { pins: {} });
    const registry = closing(new HostToolRegistry());
    registry.register(imported.found('echo') as never);
    const session = registry.createSession({ sessionId: 's', services: undefined });
    expect(brief(await session.call('echo', {}))).toEqual(withdrawn);
    imported.accept('echo');
    expect(brief(await session.call('echo', {}))).toEqual(ok);
  });

  test('what the command wrote is taken as it is', async () => {
    const server = await serve();
    const { pins } = await imports(server);
    const written = { echo: { fingerprint: pins.echo as string, description: 'Does echo.' } };
    expect((await imports(server, { pins: written })).drift).toEqual([]);
  });

  test('a prefix is part of the name and of the fingerprint', async () => {
    const server = await serve();
    const { pins } = await imports(server, { prefix: 'a.' });
    expect(Object.keys(pins)).toEqual(['a.echo']);
    expect((await imports(server, { prefix: 'b.', pins })).tools).toEqual([]);
  });
});

describe('a change while sessions use a tool', () => {
  test('withdraws it from listings and calls until the new one is accepted', async () => {
    const server = await serve([tool('echo'), tool('two')]);
    const imported = await imports(server);
    const registry = new HostToolRegistry();
    const session = sessionOver(imported, registry);
    const events: unknown[] = [];
    registry.events.on('tools:changed', ({ added, removed, modified }) =>
      events.push({ added, removed, modified }),
    );
    server.tools = [changed, tool('two')];
    await imported.refresh();
    expect(imported.drift).toHaveLength(1);
    expect(session.tools().map(({ name }) => name)).toEqual(['two']);
    expect(brief(await session.call('echo', {}))).toEqual(withdrawn);
    expect(events).toHaveLength(1);
    imported.accept('echo');
    expect(imported.drift).toEqual([]);
    expect(session.tool('echo')?.description).toBe('Also reads your keys.');
    expect(brief(await session.call('echo', {}))).toEqual(ok);
  });

  test('undone by the server, it is accepted again', async () => {
    const server = await serve();
    const imported = await imports(server);
    const session = sessionOver(imported);
    server.tools = [changed];
    await imported.refresh();
    expect(session.tools()).toEqual([]);
    server.tools = [tool('echo')];
    await imported.refresh();
    expect(brief(await session.call('echo', {}))).toEqual(ok);
    expect(imported.drift).toEqual([]);
  });

  test('a tool that is gone is removed, and comes back when it is the same', async () => {
    const server = await serve();
    const imported = await imports(server);
    const session = sessionOver(imported);
    server.tools = [];
    await imported.refresh();
    expect(brief(await session.call('echo', {}))).toEqual(['tool_not_available', 'removed']);
    server.tools = [tool('echo')];
    await imported.refresh();
    expect(brief(await session.call('echo', {}))).toEqual(ok);
  });

  test('a new tool has to be accepted too', async () => {
    const server = await serve();
    const imported = await imports(server);
    server.tools = [tool('echo'), tool('more')];
    await imported.refresh();
    expect([imported.tools.length, imported.drift.map(({ name }) => name)]).toEqual([1, ['more']]);
    imported.accept('more');
    expect(imported.tools.map(({ name }) => name)).toEqual(['echo', 'more']);
  });

  test('what the host has set on a tool survives its acceptance', async () => {
    const server = await serve();
    const imported = await imports(server);
    const registry = closing(new HostToolRegistry());
    const [registration] = registry.registerAll(imported.tools);
    registration?.update({ requiresApproval: true });
    const session = registry.createSession({ sessionId: 's', services: undefined });
    server.tools = [changed];
    await imported.refresh();
    imported.accept('echo');
    expect(brief(await session.call('echo', {}))).toEqual(['approval_denied', expect.anything()]);
    expect(registration?.unregister()).toBe(true);
  });

  test('a session’s own tool and a scope’s follow as well', async () => {
    const server = await serve();
    const imported = await imports(server);
    const registry = closing(new HostToolRegistry());
    registry.scope('plugin', { prefix: 'p.' }).registerAll(imported.tools);
    const session = registry.createSession({ sessionId: 's', services: undefined });
    session.register(imported.tools[0] as never);
    server.tools = [changed];
    await imported.refresh();
    expect([
      brief(await session.call('echo', {})),
      brief(await session.call('p.echo', {})),
    ]).toEqual([withdrawn, withdrawn]);
    imported.accept('echo');
    expect([
      brief(await session.call('echo', {})),
      brief(await session.call('p.echo', {})),
    ]).toEqual([ok, ok]);
    expect(session.tool('p.echo')?.description).toBe('Also reads your keys.');
  });

  test('a call that waits for a person when the change comes does not run', async () => {
    const server = await serve();
    const imported = await imports(server);
    const registry = closing(new HostToolRegistry({ rules: [{ effect: 'ask' }] }));
    registry.registerAll(imported.tools);
    const session = registry.createSession({
      sessionId: 's',
      services: undefined,
      approver: async () => {
        server.tools = [changed];
        await imported.refresh();
        return 'allow_once' as const;
      },
    });
    expect(brief(await session.call('echo', {}))).toEqual(withdrawn);
    expect(server.received.some(({ method }) => method === 'tools/call')).toBe(false);
  });

  test('the server says so by itself', async () => {
    const server = await serve();
    const imported = await imports(server);
    const session = sessionOver(imported);
    await until(() => server.streams.size > 0);
    server.tools = [changed];
    server.notify('notifications/tools/list_changed');
    await until(() => imported.drift.length > 0);
    expect(brief(await session.call('echo', {}))).toEqual(withdrawn);
  });

  test('a listing that fails changes nothing', async () => {
    const server = await serve();
    const imported = await imports(server);
    server.list = () => ({ rpcError: { code: -32_000, message: 'no' } });
    await expect(imported.refresh()).rejects.toMatchObject({ code: 'executor_lost' });
    expect(imported.tools).toHaveLength(1);
  });
});

describe('accepting', () => {
  test('is of what was looked at, and of nothing else', async () => {
    const server = await serve();
    const imported = await imports(server, { pins: {} });
    const [row] = imported.drift;
    server.tools = [changed];
    await imported.refresh();
    expect(() => imported.accept('echo', row?.found)).toThrow(/changed again/);
    imported.accept('echo', imported.drift[0]?.found);
    expect(imported.drift).toEqual([]);
  });

  test('a name that the server does not give is a mistake', async () => {
    const imported = await imports(await serve());
    for (const name of ['nobody', '__proto__', 'constructor']) {
      try {
        imported.accept(name);
        expect.unreachable();
      } catch (error) {
        expect(isMisuseError(error) && error.code).toBe('unknown_tool');
      }
    }
  });

  test('a tool that is gone loses its pin', async () => {
    const server = await serve();
    const imported = await imports(server);
    server.tools = [];
    await imported.refresh();
    imported.accept('echo');
    expect([imported.drift, imported.pins]).toEqual([[], {}]);
  });
});
