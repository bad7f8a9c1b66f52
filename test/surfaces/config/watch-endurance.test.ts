/** Watching under what editors, deployments and hosts do to files, folders and registries. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { HostToolRegistry, type MisuseError } from '../../../src/index.ts';
import { type Watch, watchHostTools } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const content = (name: string): string =>
  JSON.stringify({ tools: [{ name, description: 'D.', module: './m.mjs' }] });
const module = 'export default () => 1;';

/** A watch, and a way to wait until the registry holds just one tool. */
async function watched(path: string, registry = new HostToolRegistry(), debounceMs = 5) {
  const faults: MisuseError[] = [];
  let told = (): void => {};
  const watch: Watch = await watchHostTools(path, registry, {
    debounceMs,
    onReload: () => told(),
    onError: (error) => {
      faults.push(error);
      told();
    },
  });
  onTestFinished(() => watch.close());
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (told = resolve));
  };
  return {
    registry,
    faults,
    until,
    holds: (name: string) => until(() => registry.listNames().join() === name),
  };
}

test('the file that a link in the folder leads to is edited', async () => {
  const { at } = folder({ 'there/a.json': content('a'), 'here/m.mjs': module });
  symlinkSync(at('there/a.json'), at('here/a.json'));
  const { holds } = await watched(at('here/a.json'));
  writeFileSync(at('there/a.json'), content('edited'));
  await holds('edited');
});

test('the folder is replaced, or removed and made again', async () => {
  const { at, write } = folder({
    'sub/a.json': content('a'),
    'sub/m.mjs': module,
    'next/a.json': content('b'),
    'next/m.mjs': module,
  });
  const { holds, faults, until } = await watched(at('sub/a.json'));
  renameSync(at('sub'), at('old'));
  renameSync(at('next'), at('sub'));
  await holds('b');
  rmSync(at('sub'), { recursive: true });
  await until(() => faults.some(({ message }) => message.includes('there is no such file')));
  mkdirSync(at('sub'));
  write({ 'sub/m.mjs': module, 'sub/a.json': content('c') });
  await holds('c');
});

test('endless signs of edits do not postpone the reading forever', async () => {
  const { at } = folder({ 'a.json': content('a'), 'm.mjs': module });
  const { registry } = await watched(at('a.json'), undefined, 50);
  for (let edits = 0; registry.get('a') !== undefined && edits < 500; edits++) {
    writeFileSync(at('a.json'), content(`edit-${edits}`));
    await pause(5);
  }
  expect(registry.get('a')).toBeUndefined();
});

test('closing the registry ends the watch, and is reported once', async () => {
  const { at, replace } = folder({ 'a.json': content('a'), 'm.mjs': module });
  const { registry, faults, until } = await watched(at('a.json'));
  await registry.close();
  replace('a.json', content('b'));
  await until(() => faults.length > 0);
  replace('a.json', content('c'));
  await pause(50);
  expect(faults).toMatchObject([{ code: 'closed' }]);
});
