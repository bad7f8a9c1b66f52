/**
 * What modules and listeners of a host throw reaches the registry's logger, with its stack and its
 * place.
 */
import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import {
  loadHostTools,
  loadHostToolsModule,
  type Watch,
  watchHostTools,
} from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

/** A registry whose logger keeps what it is told, and then rejects: that must end nothing. */
function logged(): {
  registry: HostToolRegistry;
  told: { data: { err?: Error }; message: string | undefined }[];
  next: () => Promise<void>;
} {
  const told: { data: { err?: Error }; message: string | undefined }[] = [];
  let wake: () => void = () => {};
  const error = async (data: object, message?: string): Promise<void> => {
    told.push({ data, message });
    wake();
    throw new Error('no disk');
  };
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  return { registry: new HostToolRegistry({ logger: { warn: () => {}, error } }), told, next };
}

describe('a module that throws', () => {
  const boom = 'const deep = () => {\n  throw new Error("no database");\n};\ndeep();\n';

  test('as of a tool: the logger gets the error, the report its message and place', async () => {
    const { at } = folder({
      'a.json': { tools: [{ name: 'a', description: 'D.', module: './boom.mjs' }] },
      'boom.mjs': boom,
    });
    const { registry, told } = logged();
    const { failed } = await loadHostTools(at('a.json'), registry);
    expect(failed[0]?.reason).toBe(
      `the module ${at('boom.mjs')} cannot be loaded: no database (at ${at('boom.mjs')}:2:9)`,
    );
    expect(told).toMatchObject([
      {
        data: { file: at('a.json'), toolName: 'a', source: 'config' },
        message: 'the module of a tool could not be loaded',
      },
    ]);
    expect(told[0]?.data.err).toMatchObject({
      message: 'no database',
      stack: expect.stringContaining('boom.mjs:2:9'),
    });
  });

  test('as a module of its own: the rejection has it as its cause, too', async () => {
    const { at } = folder({ 'boom.mjs': boom });
    const { registry, told } = logged();
    const rejected = await loadHostToolsModule(at('boom.mjs'), registry).catch(
      (error: Error) => error,
    );
    expect(rejected).toMatchObject({
      code: 'invalid_file',
      message: expect.stringContaining(`${at('boom.mjs')}:2:9`),
      cause: { message: 'no database' },
    });
    expect(told).toMatchObject([
      { data: { err: { message: 'no database' } }, message: 'a module could not be loaded' },
    ]);
  });

  test('in its set-up', async () => {
    const { at } = folder({
      'm.mjs': 'export function setupHostTools() { throw new TypeError("no port"); }',
    });
    const { registry, told } = logged();
    await expect(loadHostToolsModule(at('m.mjs'), registry)).rejects.toMatchObject({
      cause: { name: 'TypeError' },
    });
    expect(told).toMatchObject([
      {
        data: { err: { message: 'no port' }, module: at('m.mjs') },
        message: 'the set-up of a module failed',
      },
    ]);
  });
});

describe('a listener of a watched file that fails', () => {
  const watches: Watch[] = [];
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.close();
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('astray');
      },
    ],
    ['rejects', () => Promise.reject(new Error('astray'))],
    [
      'answers a thenable that rejects',
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library is what this is about
      () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('astray')) }),
    ],
  ])('%s: the logger is told', async (_, listener) => {
    const { at } = folder({ 'a.json': { rules: [] } });
    const { registry, told, next } = logged();
    watches.push(
      await watchHostTools(at('a.json'), registry, {
        onReload: () => listener() as undefined,
        debounceMs: 0,
      }),
    );
    const heard = next();
    writeFileSync(at('a.json'), JSON.stringify({ rules: [{ effect: 'deny' }] }));
    await heard;
    expect(told).toMatchObject([
      {
        data: { err: { message: 'astray' }, file: at('a.json') },
        message: 'a listener of a watched file failed',
      },
    ]);
  });
});

test('an unknown option of a watch is reported with the nearest name', () => {
  const { at } = folder({ 'a.json': {} });
  expect(() =>
    watchHostTools(at('a.json'), new HostToolRegistry(), { onreload: () => {} } as object),
  ).toThrow('watchHostTools: unknown option `onreload`; did you mean `onReload`?');
});
