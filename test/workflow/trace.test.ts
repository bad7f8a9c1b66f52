import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../src/index.ts';
import { replay, replayTrace, serializeState, type WorkflowEvent, writeTrace } from '../../src/workflow.ts';
import { observe, settle, workflow } from './events.ts';

const events: WorkflowEvent[] = [
  { type: 'run_requested' },
  observe(['a', 'read'], ['b', 'exec'], ['c', 'nothing']),
  { type: 'run_completed' },
  settle('a'),
  settle('b'),
  { type: 'run_completed' },
];
const lines = (): string[] => writeTrace(workflow(), events).trimEnd().split('\n');
const edited = (line: number, edit: (value: Record<string, never>) => void): string => {
  const all = lines();
  const value = JSON.parse(all[line - 1] as string);
  edit(value);
  all[line - 1] = JSON.stringify(value);
  return all.join('\n');
};

describe('writeTrace', () => {
  test('one line for the workflow, one for each event: what was asked for, what was refused, the hash of the state', () => {
    const written = lines().map((line) => JSON.parse(line));
    expect(written[0]).toMatchObject({ trace: 1, workflow: { version: 1, profile: 'all' } });
    expect(written[1]).toMatchObject({
      event: { type: 'run_requested' },
      commands: [{ type: 'llm_generate', toolNames: ['read', 'grep', 'write', 'edit', 'exec'] }],
    });
    expect(written[3]).toMatchObject({ event: { type: 'run_completed' }, commands: [], error: 'batch_already_active', state: written[2].state });
    expect(written[5].commands[0]).toEqual({
      type: 'batch_settled',
      batchId: 'batch-1',
      results: [
        { callId: 'a', outcome: 'succeeded' },
        { callId: 'b', outcome: 'succeeded' },
        { callId: 'c', outcome: 'tool_not_found' },
      ],
    });
  });

  test('an event that is not JSON cannot be written', () => {
    expect(() => writeTrace(workflow(), [{ type: 'facts_updated', facts: { n: 1n } } as never])).toThrow('expected event 1 to be JSON');
  });
});

describe('the end of a trace', () => {
  test('is marked, so that one that was cut off is not taken for a shorter run', () => {
    const all = lines();
    expect(JSON.parse(all.at(-1) as string)).toEqual({ end: { events: 6, state: expect.stringMatching(/^sha256:/) } });
    expect(replayTrace(all.slice(0, -1).join('\n'))).toMatchObject({ same: false, line: all.length, at: '/end', found: 'nothing' });
    expect(replayTrace([...all.slice(0, -2), all.at(-1)].join('\n'))).toMatchObject({ same: false, at: '/end/events', expected: '6', found: '5' });
    expect(replayTrace([...all, all[1]].join('\n'))).toMatchObject({ same: false, line: all.length + 1, expected: 'nothing' });
  });

  test('may be missing where every line holds an event alone, as a log written by hand does', () => {
    const [first] = lines();
    for (const written of [(event: object) => event, (event: object) => ({ event })])
      expect(replayTrace([first, ...events.map((event) => JSON.stringify(written(event)))].join('\n'))).toEqual(replayTrace(writeTrace(workflow(), events)));
  });
});

describe('replayTrace', () => {
  test('what was written comes out the same, with the hash of the last state', () => {
    const report = replayTrace(writeTrace(workflow(), events));
    expect(report).toEqual({
      same: true,
      events: 6,
      hash: `sha256:${createHash('sha256')
        .update(serializeState(replay(workflow(), events).state))
        .digest('hex')}`,
    });
    expect(report).toEqual(replayTrace(`\r\n${lines().join('\r\n')}\r\n`));
  });

  test('events alone are replayed too', () => {
    const bare = [lines()[0], ...events.map((event) => JSON.stringify(event))].join('\n');
    expect(replayTrace(bare)).toEqual(replayTrace(writeTrace(workflow(), events)));
  });

  test.each<[string, number, (value: never) => void, object]>([
    [
      'a tool that was listed',
      2,
      (value: { commands: [{ toolNames: string[] }] }) => value.commands[0].toolNames.splice(1, 1),
      { at: '/commands/0/toolNames/1', expected: '"write"', found: '"grep"' },
    ],
    [
      'a call less in a group',
      3,
      (value: { commands: [{ calls: string[] }] }) => value.commands[0].calls.pop(),
      { at: '/commands/0/calls/0', expected: 'nothing', found: '"a"' },
    ],
    ['a refusal that was none', 4, (value: { error?: string }) => delete value.error, { at: '/error', expected: 'nothing', found: '"batch_already_active"' }],
    ['another state', 7, (value: { state: string }) => Object.assign(value, { state: 'sha256:0' }), { at: '/state', expected: '"sha256:0"' }],
    [
      'an event that was changed afterwards',
      5,
      (value: { event: { callId: string } }) => Object.assign(value.event, { callId: 'other' }),
      { at: '/commands/0', found: 'nothing' },
    ],
  ])('%s is the first difference', (_, line, edit, difference) => {
    expect(replayTrace(edited(line, edit as never))).toMatchObject({ same: false, line, ...difference });
  });

  test.each([
    ['an empty file', '', 'empty'],
    ['a line that is not JSON', `${lines()[0]}\n{`, 'Line 2: expected a JSON object'],
    ['a line that is no object', `${lines()[0]}\n[1]`, 'Line 2: expected a JSON object, got an array of 1'],
    ['a file that begins with an event', lines()[1] as string, 'Line 1: expected { "trace": 1'],
    ['another version', '{"trace":2,"workflow":{}}', '`trace`'],
    ['a workflow that is none', '{"trace":1,"workflow":{"version":1}}', 'Line 1: `workflow` is no workflow'],
    [
      'a workflow that cannot be computed with',
      '{"trace":1,"workflow":{"version":1,"tools":[null],"profiles":{},"facts":{}}}\n{"type":"run_requested"}',
      'Line 1: `workflow` is no workflow',
    ],
  ])('%s is refused with its line', (_, text, message) => {
    try {
      replayTrace(text);
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
      expect(error).toMatchObject({ code: 'invalid_file' });
      expect((error as Error).message).toContain(message);
    }
  });

  test('no text makes it throw anything but that', () => {
    const header = lines()[0] as string;
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 4 }), fc.boolean(), (given, whole) => {
        try {
          replayTrace([...(whole ? [header] : []), ...given].join('\n'));
        } catch (error) {
          expect(isMisuseError(error)).toBe(true);
        }
      }),
    );
  });

  test('its hash is that of the bytes of the state', () => {
    const { state } = replay(workflow(), events);
    const report = replayTrace(writeTrace(workflow(), events));
    expect(report).toEqual(replayTrace(writeTrace(JSON.parse(serializeState(workflow())), events)));
    expect(serializeState(state)).not.toContain('undefined');
  });
});
