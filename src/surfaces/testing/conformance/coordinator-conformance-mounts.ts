/** Conformance rules: mount points. */
import assert from 'node:assert/strict';
import {
  type ConformanceTarget,
  hostileNames,
  type RuleBody,
  refuses,
  rules,
} from './coordinator-conformance-rule.ts';

const tool = (name: string): { readonly name: string; readonly description: string } =>
  Object.freeze({ name, description: `The tool ${name}` });

/** Everything mounted at a point. Coordinators return it as a map or as a dictionary. */
async function all(
  target: ConformanceTarget,
  point: string,
): Promise<{ names(): string[]; find(name: string): unknown }> {
  const held: unknown = await target.get(point);
  if (held instanceof Map)
    return {
      names: () => [...(held as Map<string, unknown>).keys()],
      find: (name) => (held as Map<string, unknown>).get(name),
    };
  assert.ok(
    typeof held === 'object' && held !== null && !Array.isArray(held),
    `Expected get('${point}') to be a map or a dictionary from name to module`,
  );
  return {
    names: () => Object.keys(held),
    find: (name) =>
      Object.hasOwn(held, name) ? (held as Record<string, unknown>)[name] : undefined,
  };
}

export const mountRules: readonly RuleBody[] = rules('mounts', {
  'a fresh coordinator has its six mount points, all empty': async (target) => {
    for (const point of ['orchestrator', 'context', 'module-source-resolver'])
      assert.equal(await target.get(point), null, `Expected nothing at ${point}`);
    for (const point of ['tools', 'providers'])
      assert.deepEqual((await all(target, point)).names(), []);
    await target.get('hooks');
  },
  'a mounted tool is found by its name, as the same object': async (target) => {
    const git = tool('git');
    await target.mount('tools', git, 'git');
    assert.equal(await target.get('tools', 'git'), git);
    assert.equal((await all(target, 'tools')).find('git'), git);
  },
  'a tool that is not mounted is null': async (target) => {
    assert.equal(await target.get('tools', 'absent'), null);
    assert.equal(await target.get('tools', 'toString'), null);
  },
  'the given name takes precedence over the name of the module': async (target) => {
    const git = tool('git');
    await target.mount('tools', git, 'vcs');
    assert.equal(await target.get('tools', 'vcs'), git);
    assert.equal(await target.get('tools', 'git'), null);
  },
  'without a name the module is mounted under its own': async (target) => {
    const git = tool('git');
    await target.mount('tools', git);
    assert.equal(await target.get('tools', 'git'), git);
    const provider = { name: 'local' };
    await target.mount('providers', provider);
    assert.equal(await target.get('providers', 'local'), provider);
  },
  'mounting under a taken name replaces, silently': async (target) => {
    const second = tool('git');
    await target.mount('tools', tool('git'));
    await target.mount('tools', tool('other'));
    await target.mount('tools', second);
    assert.equal(await target.get('tools', 'git'), second);
    assert.deepEqual((await all(target, 'tools')).names(), ['git', 'other']);
  },
  'the result of an earlier get("tools") follows later mounts and unmounts': async (target) => {
    const held = await all(target, 'tools');
    const git = tool('git');
    await target.mount('tools', git);
    assert.equal(held.find('git'), git);
    await target.unmount('tools', 'git');
    assert.deepEqual(held.names(), []);
  },
  'any string is a tool name, also names that objects inherit': async (target) => {
    for (const name of hostileNames) {
      const module = tool(name);
      await target.mount('tools', module, name);
      assert.equal(
        await target.get('tools', name),
        module,
        `Expected ${JSON.stringify(name)} to be mounted`,
      );
      assert.equal((await all(target, 'tools')).find(name), module);
    }
    assert.equal((await all(target, 'tools')).names().length, hostileNames.length);
    assert.equal(
      ({} as { description?: unknown }).description,
      undefined,
      'Expected no prototype to be changed',
    );
    for (const name of hostileNames) await target.unmount('tools', name);
    assert.deepEqual((await all(target, 'tools')).names(), []);
  },
  'an unmounted tool is gone, the others stay': async (target) => {
    await target.mount('tools', tool('git'));
    await target.mount('tools', tool('read_file'));
    await target.unmount('tools', 'git');
    assert.equal(await target.get('tools', 'git'), null);
    assert.deepEqual((await all(target, 'tools')).names(), ['read_file']);
  },
  'unmounting what is not mounted changes nothing': async (target) => {
    await target.mount('tools', tool('git'));
    await target.unmount('tools', 'absent');
    await target.unmount('orchestrator');
    assert.deepEqual((await all(target, 'tools')).names(), ['git']);
  },
  'tools and providers do not share names': async (target) => {
    const provider = { name: 'same' };
    await target.mount('tools', tool('same'));
    await target.mount('providers', provider);
    await target.unmount('tools', 'same');
    assert.equal(await target.get('providers', 'same'), provider);
  },
  'a single mount point holds the last module, needs no name, and can be emptied': async (
    target,
  ) => {
    for (const point of ['orchestrator', 'context', 'module-source-resolver']) {
      const second = { second: true };
      await target.mount(point, { first: true });
      await target.mount(point, second);
      assert.equal(await target.get(point), second);
      await target.unmount(point);
      assert.equal(await target.get(point), null);
    }
  },
  'an unknown mount point is refused by name': async (target) => {
    for (const point of ['nowhere', 'Tools', '__proto__', 'toString']) {
      await refuses(() => target.mount(point, tool('git'), 'git'), `Unknown mount point: ${point}`);
      await refuses(() => target.unmount(point, 'git'), `Unknown mount point: ${point}`);
      await refuses(() => target.get(point), `Unknown mount point: ${point}`);
    }
  },
  'hooks are not mounted': (target) =>
    refuses(
      () => target.mount('hooks', () => null, 'audit'),
      'Hooks should be registered directly with the HookRegistry',
    ),
  'a module without a name needs one, at tools and at providers': async (target) => {
    for (const point of ['tools', 'providers'])
      for (const module of [{}, null, 7])
        await refuses(() => target.mount(point, module), `Name required for ${point}`);
    assert.deepEqual(
      (await all(target, 'tools')).names(),
      [],
      'Expected a refused mount to change nothing',
    );
  },
  'unmounting from tools and providers needs a name': async (target) => {
    await target.mount('tools', tool('git'));
    for (const point of ['tools', 'providers'])
      await refuses(() => target.unmount(point), `Name required to unmount from ${point}`);
    assert.deepEqual((await all(target, 'tools')).names(), ['git']);
  },
});
