/** What a model finds can be called in the same run. */
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { versions } from './versions.ts';

const tool = (name: string, description: string, more: object = {}) =>
  defineTool({
    name,
    description,
    parameters: { type: 'object' },
    handler: () => `${name} ran`,
    ...more,
  } as never);

function open() {
  const registry = new HostToolRegistry({ rules: [{ effect: 'deny', tools: 'drop_*' }] });
  registry.registerAll([
    tool('mail.send', 'Sends an e-mail.'),
    tool('read_file', 'Reads a file.'),
    tool('get_weather', 'Tells the weather.'),
    tool('drop_table', 'Drops a table.'),
  ]);
  return registry.createSession({ sessionId: 's', discovery: { keep: 'read_*' } });
}

describe.each(versions)('$name', (sdk) => {
  describe.each(['generate', 'stream'] as const)('%s', (way) => {
    test('a model sees what the session lists at each step, and calls found tools', async () => {
      const session = open();
      const { tools, prepareStep } = toAiSdkTools(session, { defer: 'ours' });
      const { asked, text } = await sdk[way](
        [
          [{ id: 'a', name: 'find_tools', input: '{"query":"mail"}' }],
          [{ id: 'b', name: 'mail_send', input: '{}' }],
          'Done.',
        ],
        { tools, prepareStep },
      );
      expect(text).toBe('Done.');
      expect(asked.map((one) => one.tools.map(({ name }) => name))).toEqual([
        ['read_file', 'find_tools'],
        ['read_file', 'find_tools', 'mail_send'],
        ['read_file', 'find_tools', 'mail_send'],
      ]);
      expect(session.metrics()).toMatchObject({ calls: 2, succeeded: 2 });
    });

    test('found tools come last, whatever the order of the registry', async () => {
      const { tools, prepareStep } = toAiSdkTools(open(), { defer: 'ours' });
      const find = (id: string, query: string) => ({
        id,
        name: 'find_tools',
        input: JSON.stringify({ query }),
      });
      const { asked } = await sdk[way]([[find('a', 'weather')], [find('b', 'mail')], 'Done.'], {
        tools,
        prepareStep,
      });
      expect(asked.at(-1)?.tools.map(({ name }) => name)).toEqual([
        'read_file',
        'find_tools',
        'get_weather',
        'mail_send',
      ]);
      expect(Object.keys(tools)).toHaveLength(4);
      expect(Object.isFrozen(tools)).toBe(true);
      expect('constructor' in tools).toBe(false);
    });

    test('without it, what is found is for the next run', async () => {
      const session = open();
      const { tools } = toAiSdkTools(session);
      await sdk[way]([[{ id: 'a', name: 'find_tools', input: '{"query":"mail"}' }], 'Done.'], {
        tools,
      });
      expect(Object.keys(tools)).toEqual(['read_file', 'find_tools']);
      expect(Object.keys(toAiSdkTools(session).tools)).toEqual([
        'read_file',
        'find_tools',
        'mail_send',
      ]);
    });
  });
});

test('what is hidden is not among the tools', () => {
  expect(Object.keys(toAiSdkTools(open(), { defer: 'ours' }).tools)).toEqual([
    'read_file',
    'find_tools',
    'mail_send',
    'get_weather',
  ]);
});

test('the same object until what the session may be shown changes', async () => {
  const session = open();
  const before = toAiSdkTools(session, { defer: 'ours' });
  await session.call('find_tools', { query: 'weather' });
  expect(toAiSdkTools(session, { defer: 'ours' })).toBe(before);
  session.setOverrides({ disable: ['get_weather'] });
  expect(Object.keys(toAiSdkTools(session, { defer: 'ours' }).tools)).not.toContain('get_weather');
  expect(before.prepareStep().activeTools).toEqual(['read_file', 'find_tools']);
});

test('without defer, a step changes nothing; without discovery, there is nothing to defer', () => {
  expect(toAiSdkTools(open()).prepareStep()).toEqual({});
  const plain = new HostToolRegistry().createSession({ sessionId: 's' });
  expect(() => toAiSdkTools(plain, { defer: 'ours' })).toThrow('needs a session with `discovery`');
  expect(() => toAiSdkTools(open(), { defer: 'provider' as never })).toThrow('defer');
});
