import { rmSync, symlinkSync, utimesSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defineTool, HostToolRegistry, type MisuseError } from '../../../src/index.ts';
import {
  type FileReport,
  loadHostTools,
  type Watch,
  type WatchOptions,
  watchHostTools,
} from '../../../src/surfaces/config/index.ts';
import { type Folder, folder } from './folder.ts';

const modules = { 'm.mjs': `export default () => 'one'; export const echo = (input) => input;` };
const tool = (name: string, extra: object = {}): object => ({
  name,
  description: `${name}.`,
  module: './m.mjs',
  ...extra,
});

/** What a watch told, one after another. */
function listener() {
  const told: (FileReport | { error: MisuseError; report: FileReport | undefined })[] = [];
  const waiting: (() => void)[] = [];
  const tell = (what: (typeof told)[number]): void => {
    told.push(what);
    waiting.shift()?.();
  };
  const next = async () => {
    if (told.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    return told.shift()!;
  };
  return {
    told,
    options: {
      debounceMs: 5,
      onReload: tell,
      onError: (error, report) => tell({ error, report }),
    } satisfies WatchOptions,
    /** The next thing, which must be an edit that was applied. */
    reload: async () => {
      const what = await next();
      if ('error' in what) throw what.error;
      return what;
    },
    /** The next thing, which must be an edit that was not. */
    fault: async () => {
      const what = await next();
      if (!('error' in what)) throw new Error(`expected a fault, got ${JSON.stringify(what)}`);
      return what;
    },
  };
}

/** A folder with a module that begins to run, and goes on when it may. */
function slowFolder(content: unknown) {
  let open = (): void => {};
  vi.stubGlobal('hostToolsGate', new Promise<void>((resolve) => (open = resolve)));
  const started = new Promise<void>((resolve) => vi.stubGlobal('hostToolsStarted', resolve));
  const slow =
    'globalThis.hostToolsStarted(); await globalThis.hostToolsGate; export default () => 1;';
  return {
    files: folder({ 'a.json': content, 'slow.mjs': slow, ...modules }),
    started,
    open: () => open(),
  };
}

async function world(content: unknown, files: Folder = folder({ 'a.json': content, ...modules })) {
  const registry = new HostToolRegistry();
  const heard = listener();
  const watch = await watchHostTools(files.at('a.json'), registry, heard.options);
  onTestFinished(() => watch.close());
  const call = async (name: string, input: object = {}) =>
    registry.createSession({ sessionId: 's', services: undefined }).call(name, input);
  return { ...files, ...heard, registry, watch, call };
}

describe('a good edit', () => {
  test('replaces exactly what the file had loaded before', async () => {
    const { registry, replace, reload, call } = await world({
      tools: [tool('same'), tool('gone'), tool('changed')],
      rules: [{ effect: 'deny', tools: 'same' }],
      profiles: { old: { tools: ['same'] }, kept: { tools: ['same'] } },
    });
    const mine = defineTool({
      name: 'mine',
      description: 'Mine.',
      parameters: { type: 'object' },
      handler: () => 'mine',
    });
    registry.register(mine);
    const [same, kept] = [registry.get('same'), registry.profile('kept')];
    replace('a.json', {
      tools: [tool('new'), tool('changed', { description: 'Other.' }), tool('same')],
      rules: [{ effect: 'deny', tools: 'new' }],
      profiles: { kept: { tools: ['same'] }, fresh: { tools: ['new'] } },
    });
    expect(await reload()).toMatchObject({
      loaded: ['new', 'changed', 'same'],
      profiles: ['kept', 'fresh'],
      rules: 1,
      failed: [],
    });
    expect(registry.listNames()).toEqual(['same', 'changed', 'mine', 'new']);
    expect(registry.get('same')).toBe(same);
    expect(registry.get('changed')?.description).toBe('Other.');
    expect(registry.get('mine')).toBe(mine);
    expect(registry.profile('old')).toBeUndefined();
    expect(registry.profile('kept')).toBe(kept);
    expect((await call('same')).success).toBe(true);
    expect((await call('new')).error?.code).toBe('policy_denied');
  });

  test(
    'is seen where the file is written in place, and where it is replaced by renaming, again ' +
      'and again',
    async () => {
      const { write, replace, reload } = await world({ tools: [tool('a')] });
      for (const [index, put] of [write, replace, write, replace, replace].entries()) {
        const content = { tools: [tool(`t${index}`)] };
        if (put === write) write({ 'a.json': content });
        else replace('a.json', content);
        expect((await reload()).loaded).toEqual([`t${index}`]);
      }
    },
  );

  test('of a file that a link leads to is seen when the link changes', async () => {
    const files = folder({
      'one.json': { tools: [tool('one')] },
      'two.json': { tools: [tool('two')] },
      ...modules,
    });
    symlinkSync(files.at('one.json'), files.at('a.json'));
    const { reload } = await world(undefined, files);
    rmSync(files.at('a.json'));
    symlinkSync(files.at('two.json'), files.at('a.json'));
    expect((await reload()).loaded).toEqual(['two']);
  });

  test('takes a name whose twin vanished in the same edit', async () => {
    const { registry, replace, reload } = await world({ tools: [tool('git')] });
    replace('a.json', { tools: [tool('Git')] });
    await reload();
    expect(registry.listNames()).toEqual(['Git']);
  });

  test('informs sessions and the registry once, when it is done', async () => {
    const { registry, replace, reload } = await world({ tools: [tool('a'), tool('b')] });
    const changes: object[] = [];
    const session = registry.createSession({ sessionId: 's', services: undefined });
    for (const source of [registry, session])
      source.events.on('tools:changed', ({ added, removed, modified }) => {
        changes.push({
          added,
          removed,
          modified,
          names: registry.listNames(),
          profile: registry.profile('p')?.id,
        });
      });
    replace('a.json', {
      tools: [tool('b', { title: 'B' }), tool('c'), tool('d')],
      profiles: { p: { tools: ['d'] } },
      rules: [{ effect: 'ask', tools: 'c' }],
    });
    await reload();
    const change = {
      added: ['c', 'd'],
      removed: ['a'],
      modified: ['b'],
      names: ['b', 'c', 'd'],
      profile: 'p',
    };
    expect(changes).toEqual([change, change]);
  });

  test('that only touches the file makes an edited handler take effect', async () => {
    const { registry, write, reload, at, call } = await world({ tools: [tool('a')] });
    const { fingerprint } = registry.get('a')!;
    write({ 'm.mjs': `export default () => 'another';` });
    utimesSync(at('a.json'), new Date(), new Date(Date.now() + 5_000));
    await reload();
    expect((await call('a')).output).toBe('another');
    expect(registry.get('a')?.fingerprint).toBe(fingerprint);
  });

  test('while a load is under way is loaded after it', async () => {
    const { files, started, open } = slowFolder({ tools: [tool('a', { module: './slow.mjs' })] });
    const registry = new HostToolRegistry();
    const { options, reload } = listener();
    const watching = watchHostTools(files.at('a.json'), registry, options);
    onTestFinished(() => watching.close());
    await started;
    files.replace('a.json', { tools: [tool('b')] });
    open();
    expect((await watching).report?.loaded).toEqual(['a']);
    expect((await reload()).loaded).toEqual(['b']);
    expect(registry.listNames()).toEqual(['b']);
  });
});

describe('a broken edit keeps the last good state completely, and is reported', () => {
  const good = {
    tools: [tool('a'), tool('b')],
    rules: [{ effect: 'deny', tools: 'b' }],
    profiles: { p: { tools: ['a'] } },
  };

  test.each([
    ['that cannot be parsed', '{ "tools": [', 'invalid_file', /a\.json:1:13: /, 0],
    ['of which nothing is left', '', 'invalid_file', /a\.json:1:1: /, 0],
    ['with an unknown section', { ...good, rule: [] }, 'invalid_file', /unknown key `rule`/, 0],
    [
      'with a broken rule',
      { ...good, rules: [{ effect: 'no' }] },
      'invalid_file',
      /:\d+:1: rules\[0\]: `effect`.*; nothing was changed$/,
      1,
    ],
    [
      'with a broken tool',
      { ...good, tools: [tool('a'), tool('c'), { name: 'd' }] },
      'invalid_file',
      /:\d+:1: tools\[2\] `d`: /,
      1,
    ],
    [
      'with a module that does not run',
      {
        ...good,
        tools: [tool('c', { module: './gone.mjs' }), tool('d', { module: './gone.mjs' })],
      },
      'invalid_file',
      /tools\[0\] `c`: .* \(and 2 more\); nothing was changed$/,
      3,
    ],
    [
      'with a broken profile',
      { ...good, tools: [tool('a'), tool('c')], profiles: { p: { tools: ['b'] } } },
      'invalid_file',
      /profiles\[0\] `p`: /,
      1,
    ],
    [
      'that takes a name of the host’s',
      { ...good, tools: [tool('a'), tool('host')] },
      'invalid_file',
      /tools\[1\] `host`: .*already registered/,
      1,
    ],
    [
      'that leaves a profile of the host’s without its parent',
      { ...good, profiles: {} },
      'invalid_file',
      /`heir` extends it/,
      0,
    ],
  ])('one %s', async (_, content, code, message, failed) => {
    const { registry, replace, fault, reload, watch, call } = await world(good);
    registry.register(
      defineTool({
        name: 'host',
        description: 'The host’s.',
        parameters: { type: 'object' },
        handler: () => 'host',
      }),
    );
    registry.defineProfile({ id: 'heir', extends: 'p', tools: [] });
    const before = {
      tools: registry.listTools(),
      revision: registry.revision,
      profile: registry.profile('p'),
      report: watch.report,
    };
    replace('a.json', content);
    const { error, report } = await fault();
    expect(error).toMatchObject({ name: 'MisuseError', code });
    expect(error.message).toMatch(message);
    expect(report?.failed.length ?? 0).toBe(failed);
    expect({
      tools: registry.listTools(),
      revision: registry.revision,
      profile: registry.profile('p'),
      report: watch.report,
    }).toEqual(before);
    expect((await call('b')).error?.code).toBe('policy_denied');
    // And the watch goes on.
    replace('a.json', { ...good, tools: [tool('a'), tool('b'), tool('z')] });
    await reload();
    expect(registry.listNames()).toEqual(['a', 'b', 'host', 'z']);
  });

  test('a missing file is reported, and loaded when it is back', async () => {
    const { registry, at, write, fault, reload } = await world(good);
    rmSync(at('a.json'));
    expect((await fault()).error.message).toMatch(/there is no such file/);
    expect(registry.count).toBe(2);
    write({ 'a.json': { tools: [tool('back')] } });
    expect((await reload()).loaded).toEqual(['back']);
  });

  test('without onError it is a warning of the process', async () => {
    const { at, replace } = folder({ 'a.json': good, ...modules });
    const warned = new Promise<readonly unknown[]>((resolve) => {
      vi.spyOn(process, 'emitWarning').mockImplementation(((...args: unknown[]) =>
        resolve(args)) as never);
    });
    const watch = await watchHostTools(at('a.json'), new HostToolRegistry(), { debounceMs: 1 });
    replace('a.json', '{');
    expect(await warned).toEqual([expect.stringContaining('a.json:1:2'), 'HostToolsWarning']);
    watch.close();
  });

  test('listeners that throw or reject affect nothing', async () => {
    const { at, replace } = folder({ 'a.json': good, ...modules });
    const registry = new HostToolRegistry();
    const { options, reload, fault } = listener();
    const watch = await watchHostTools(at('a.json'), registry, {
      debounceMs: 1,
      onReload: (report) => {
        options.onReload(report);
        throw new Error('a listener');
      },
      onError: ((error: MisuseError, report?: FileReport) => {
        options.onError(error, report);
        return Promise.reject(new Error('a listener'));
      }) as never,
    });
    replace('a.json', '{');
    await fault();
    replace('a.json', { tools: [tool('x')] });
    await reload();
    replace('a.json', { tools: [tool('y')] });
    await reload();
    expect(registry.listNames()).toEqual(['y']);
    watch.close();
  });
});

describe('the first load', () => {
  test('is done when the promise resolves, and is reported there', async () => {
    const { watch, registry, told } = await world({ tools: [tool('a'), { name: 'broken' }] });
    expect(watch.report).toMatchObject({ loaded: ['a'], failed: [{ index: 1, name: 'broken' }] });
    expect(registry.listNames()).toEqual(['a']);
    expect(told).toEqual([]);
  });

  test('replaces what loadHostTools had loaded from the file, and vice versa', async () => {
    const { at } = folder({
      'a.json': { tools: [tool('a')], rules: [{ effect: 'ask' }] },
      ...modules,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    const watch = await watchHostTools(at('a.json'), registry);
    expect(watch.report?.failed).toEqual([]);
    expect((await loadHostTools(at('a.json'), registry)).failed).toEqual([]);
    watch.close();
  });

  test.each([
    ['of a file that is not there', 'gone.json', /there is no such file/],
    ['of a file in a folder that is not there', 'gone/gone.json', /there is no such file/],
    ['of a file that cannot be parsed', 'bad.json', /bad\.json:1:2/],
  ])('%s rejects, and nothing is watched', async (_, name, message) => {
    const { at, write } = folder({ 'bad.json': '{' });
    const registry = new HostToolRegistry();
    const onReload = vi.fn();
    await expect(
      watchHostTools(at(name), registry, { onReload, debounceMs: 0 }),
    ).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
    write({ [name]: { tools: [] } });
    await turn();
    expect(onReload).not.toHaveBeenCalled();
  });

  test.each([
    ['a path that is none', [3, new HostToolRegistry()]],
    ['no registry', ['a.json', undefined]],
    ['options that are none', ['a.json', new HostToolRegistry(), null]],
    ['an unknown option', ['a.json', new HostToolRegistry(), { debounce: 3 }]],
    ['a listener that is none', ['a.json', new HostToolRegistry(), { onReload: 3 }]],
    ['another listener that is none', ['a.json', new HostToolRegistry(), { onError: 'log' }]],
    ['a time below 0', ['a.json', new HostToolRegistry(), { debounceMs: -1 }]],
    ['a time that is none', ['a.json', new HostToolRegistry(), { debounceMs: Number.NaN }]],
  ])('%s throws at once: invalid_option', (_, args) => {
    expect(() => watchHostTools(...(args as Parameters<typeof watchHostTools>))).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});

describe('close', () => {
  test('keeps what was loaded, is idempotent, and stops edits and reports', async () => {
    const { registry, watch, replace, told, write } = await world({ tools: [tool('a')] });
    replace('a.json', { tools: [tool('b')] });
    watch.close();
    watch.close();
    write({ 'a.json': { tools: [tool('c')] } });
    const other = await world({ tools: [tool('x')] });
    other.replace('a.json', { tools: [tool('y')] });
    // Another watch of the same kind has seen its edit by now.
    await other.reload();
    expect(registry.listNames()).toEqual(['a']);
    expect(told).toEqual([]);
  });

  test('before the first load is done loads nothing, and the promise resolves', async () => {
    const { at } = folder({ 'a.json': { tools: [tool('a')] }, ...modules });
    const registry = new HostToolRegistry();
    const watching = watchHostTools(at('a.json'), registry);
    watching.close();
    const watch: Watch = await watching;
    expect(watch.report).toBeUndefined();
    expect(registry.count).toBe(0);
  });

  test('before a first load that fails leaves no rejection', async () => {
    const watching = watchHostTools('/gone/a.json', new HostToolRegistry());
    watching.close();
    await expect(watching).resolves.toHaveProperty('close');
  });

  test('a reload under way does not apply', async () => {
    const { files, started, open } = slowFolder({ tools: [tool('a')] });
    const { registry, watch, replace, told } = await world(undefined, files);
    replace('a.json', { tools: [tool('b', { module: './slow.mjs' })] });
    await started;
    watch.close();
    open();
    await import(/* @vite-ignore */ files.at('slow.mjs'));
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(registry.listNames()).toEqual(['a']);
    expect(told).toEqual([]);
  });

  test('leaves no timer and no watcher', async () => {
    const watchers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
    // A handle that was closed is counted until the loop has turned.
    const turns = async (): Promise<void> => {
      for (let at = 0; at < 5; at++) await turn();
    };
    await turns();
    const before = watchers();
    const files = folder({ 'a.json': { tools: [tool('a')] }, ...modules });
    const watch = await watchHostTools(files.at('a.json'), new HostToolRegistry(), {
      debounceMs: 54_321,
    });
    expect(watchers()).toBe(before + 1);
    const { setTimeout: set } = globalThis;
    const armed = new Promise<unknown>((resolve) => {
      vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => {
        const timer = set(run, ms);
        if (ms === 54_321) resolve(timer);
        return timer;
      }) as never);
    });
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    files.replace('a.json', { tools: [tool('b')] });
    const timer = await armed;
    // Further signs of the edit arm it anew; the last one must go.
    watch.close();
    await turns();
    expect(watchers()).toBe(before);
    expect(clear).toHaveBeenCalledWith(timer);
  });
});
