import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fail } from '../../../../src/index.ts';
import {
  createTestSession,
  mockTool,
  recordTape,
  replayTape,
  type Tape,
} from '../../../../src/surfaces/testing/index.ts';

type Json = Record<string, unknown> & {
  tools: Record<string, unknown>[];
  calls: (Record<string, unknown> & {
    result: Record<string, unknown> & { error?: Record<string, unknown> };
  })[];
};

async function sound(): Promise<Json> {
  const session = createTestSession({
    tools: [
      mockTool({
        name: 'read',
        parameters: z.object({ path: z.string() }),
        handler: ({ path }) => (path === 'a' ? 'text' : fail('No such file.')),
      }),
    ],
  });
  const { tape } = recordTape(session);
  await session.call('read', { path: 'a' });
  await session.call('read', { path: 'b' });
  return JSON.parse(JSON.stringify(tape())) as Json;
}

describe('an invalid tape is refused with `invalid_file`, and the place', () => {
  test.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /the tape to be an object, got null/],
    ['text', '{}', /parse the text first/],
    ['a list', [], /the tape to be an object, got an array/],
    ['what JSON cannot hold', { version: 1, tools: [1n] }, /`\/tools\/0` of the tape to be JSON/],
    ['no version', { tools: [], calls: [] }, /`\/version` of the tape to be 1, got undefined/],
    [
      'another version',
      { version: 2, tools: [], calls: [] },
      /`\/version` of the tape to be 1, got `2` \(number\)\. Record the tape again/,
    ],
    ['no calls', { version: 1, tools: [] }, /`\/calls` of the tape to be there, got nothing/],
  ])('%s', (_, tape, message) => {
    expect(() => replayTape(tape as Tape)).toThrow(
      expect.objectContaining({
        name: 'MisuseError',
        code: 'invalid_file',
        message: expect.stringMatching(message),
      }),
    );
  });

  test.each<[string, (tape: Json) => void, RegExp]>([
    ['an unknown member', (tape) => (tape.extra = 1), /`\/extra` of the tape to be absent/],
    [
      'redact that is no list of texts',
      (tape) => (tape.redact = ['']),
      /`\/redact` of the tape to be an array of non-empty strings/,
    ],
    [
      'a tool that is none',
      (tape) => (tape.tools[0] = null as never),
      /`\/tools\/0` of the tape to be an object, got null/,
    ],
    [
      'a tool without a name',
      (tape) => delete tape.tools[0]!.name,
      /`\/tools\/0\/name` of the tape to be there/,
    ],
    [
      'a tool with a name that no tool may have',
      (tape) => (tape.tools[0]!.name = tape.calls[0]!.tool = tape.calls[1]!.tool = ' '),
      /`\/tools\/0` of the tape to describe the tool/,
    ],
    [
      'a schema that is none',
      (tape) =>
        (tape.tools[0]!.parameters = { type: 'object', properties: { a: { type: 'nonsense' } } }),
      /`\/tools\/0` of the tape to describe the tool `read`/,
    ],
    [
      'annotations that are none',
      (tape) => (tape.tools[0]!.annotations = { readOnly: 'yes' }),
      /`\/tools\/0` of the tape .*readOnly/,
    ],
    [
      'a call without an input',
      (tape) => delete tape.calls[0]!.input,
      /`\/calls\/0\/input` of the tape to be there/,
    ],
    [
      'a call with a typing error',
      (tape) => (tape.calls[0]!.inptu = {}),
      /`\/calls\/0\/inptu` of the tape to be absent/,
    ],
    [
      'a status that is none',
      (tape) => (tape.calls[0]!.status = 'done'),
      /`\/calls\/0\/status` of the tape to be one of "succeeded"/,
    ],
    ['a success that failed', (tape) => (tape.calls[0]!.status = 'failed'), /`\/calls\/0\/status`/],
    [
      'a success that never ran',
      (tape) => (tape.calls[0]!.ran = false),
      /`\/calls\/0\/ran` of the tape to be true if the result is a success/,
    ],
    [
      'a success without an output',
      (tape) => delete tape.calls[0]!.result.output,
      /`\/calls\/0\/result\/output` of the tape to be there/,
    ],
    [
      'an error of no known code',
      (tape) => (tape.calls[1]!.result.error!.code = 'oops'),
      /`\/calls\/1\/result\/error\/code` of the tape to be a known error code, got `oops`/,
    ],
    [
      'an error without a message',
      (tape) => (tape.calls[1]!.result.error!.message = ''),
      /`\/calls\/1\/result\/error\/message`/,
    ],
    [
      'a call of a tool that is not on the tape',
      (tape) => (tape.calls[1]!.tool = 'write'),
      /`\/calls\/1\/tool` of the tape to be a tool of the tape, since its handler ran, got `write`/,
    ],
  ])('%s', async (_, spoil, message) => {
    const tape = await sound();
    expect(() => replayTape(tape as unknown as Tape)).not.toThrow();
    spoil(tape);
    expect(() => replayTape(tape as unknown as Tape)).toThrow(
      expect.objectContaining({ code: 'invalid_file', message: expect.stringMatching(message) }),
    );
  });
});

test('a tape is copied: changing it afterwards changes no replay', async () => {
  const tape = await sound();
  const { tools } = replayTape(tape as unknown as Tape);
  tape.calls[0]!.result.output = 'changed';
  expect(await createTestSession({ tools }).call('read', { path: 'a' })).toMatchObject({
    output: 'text',
  });
});

test('an input with a member named `__proto__` is a member like any other', async () => {
  const session = createTestSession({ tools: [mockTool({ name: 'read' })] });
  const { tape } = recordTape(session);
  await session.call('read', JSON.parse('{"__proto__":{"a":1}}'));
  const replay = replayTape(JSON.parse(JSON.stringify(tape())) as Tape);
  const again = createTestSession({ tools: replay.tools });
  await again.call('read', JSON.parse('{"__proto__":{"a":2}}'));
  await again.call('read', JSON.parse('{"__proto__":{"a":1}}'));
  expect(replay.report()).toMatchObject({ mismatches: [{ path: '/__proto__/a' }], unconsumed: [] });
});
