import { describe, expect, test } from 'vitest';
import { content, serializeOutput } from '../../src/index.ts';
import { contentParts } from '../../src/values/content-parts.ts';
import { world } from '../core/call/world.ts';

describe('content', () => {
  test('parts have the forms of the protocol that most surfaces use', async () => {
    const { output } = await world().run(() => [
      content.text('a'),
      content.image('AA', 'image/png'),
      content.audio('AA', 'audio/wav'),
      content.resource({ uri: 'u', mimeType: 'text/plain', text: 't' }),
      content.link({ uri: 'u', name: 'n' }),
    ]);
    expect(output).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AA', mimeType: 'image/png' },
      { type: 'audio', data: 'AA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'u', mimeType: 'text/plain', text: 't' } },
      { type: 'resource_link', uri: 'u', name: 'n' },
    ]);
    expect(contentParts(output)).toHaveLength(5);
  });

  test('one part is a list of one', async () => {
    expect((await world().run(() => content.text('a'))).output).toEqual([
      { type: 'text', text: 'a' },
    ]);
  });

  test.each([
    ['data that looks like a part', { type: 'text', text: 'a' }],
    ['a list of data that looks like parts', [{ type: 'text', text: 'a' }]],
    ['a list of parts and data', [content.text('a'), { x: 1 }]],
    ['an empty list', []],
    ['a list of holes', new Array(3)],
    ['a part that lacks what it needs', content.image(undefined as never, 'image/png')],
  ])('%s is plain JSON', async (_, value) => {
    const result = await world().run(() => value);
    expect(result.success).toBe(true);
    expect(contentParts(result.output)).toBeUndefined();
    expect(serializeOutput(result)).toBe(JSON.stringify(result.output));
  });

  test("a part has no further members of a host's object", () => {
    const row = { uri: 'u', name: 'n', size: '12 KB', owner: 'ann' };
    expect(content.link(row)).toEqual({ type: 'resource_link', uri: 'u', name: 'n' });
    expect(content.resource({ ...row, text: 't' } as { uri: string })).toEqual({
      type: 'resource',
      resource: { uri: 'u', text: 't' },
    });
  });

  test('a part is frozen, and a result holds a copy of it', async () => {
    const resource = { uri: 'u', text: 'before' };
    const part = content.resource(resource);
    expect(Object.isFrozen(part)).toBe(true);
    const { output } = await world().run(() => part);
    resource.text = 'after';
    expect(output).toEqual([{ type: 'resource', resource: { uri: 'u', text: 'before' } }]);
  });
});
