import { createHash, Hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMisuseError, type JsonValue, type ToolResult } from '../../../src/index.ts';
import {
  createWorkflow,
  replay,
  replayTrace,
  serializeState,
  type WorkflowEvent,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';
import { observe, settle, succeeded, workflow } from './events.ts';

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

/** Every kind of event, with ones that are refused and ones that change nothing. */
const everything: WorkflowEvent[] = [
  { type: 'facts_updated', facts: { network: true } },
  { type: 'host_session_updated', hostSessionId: 'host-1', status: 'ready' },
  { type: 'tool_overrides_set', scope: 'session', disable: ['grep'] },
  { type: 'tool_profile_selected', profile: 'all' },
  { type: 'tool_profile_selected', profile: 'none' },
  { type: 'run_requested', runId: 'mine', provider: 'nobody' },
  { type: 'tool_overrides_set', scope: 'run', force: ['grep'] },
  {
    type: 'tool_calls_observed',
    calls: [
      { id: 'a', name: 'read', arguments: { path: 'x', deep: [{ n: 1 }] }, resourceKey: 'k' },
      { id: 'b', name: 'read', arguments: '{"path":"y"}' },
      { id: 'c', name: 'exec' },
      { id: 'd', name: 'nothing', arguments: { refused: true } },
    ],
  },
  { type: 'run_completed' },
  {
    type: 'tool_call_settled',
    batchId: 'batch-1',
    callId: 'a',
    result: succeeded('a', { balance: 100 }),
  },
  settle('a'),
  settle('nobody'),
  settle('b', 'batch-7'),
  { type: 'tool_call_settled', callId: 'c', result: succeeded('c', 'ahead of its group') },
  {
    type: 'tool_call_settled',
    callId: 'b',
    result: {
      ...succeeded('b'),
      success: false,
      error: { code: 'handler_error', message: 'no', retryable: false },
    } as ToolResult,
  },
  {
    type: 'tool_calls_observed',
    calls: [{ id: 'a', name: 'nothing', arguments: { all: 'refused' } }],
  },
  {
    type: 'tool_calls_observed',
    calls: [{ id: 'a', name: 'exec', arguments: { never: 'settled' } }],
  },
  { type: 'run_cancelled' },
  {
    type: 'tool_registry_set',
    tools: [{ name: 'read' }],
    profiles: { all: ['read'] },
    profile: 'all',
  },
];

const written = (lines: readonly JsonValue[]): string =>
  lines.map((line) => JSON.stringify(line)).join('\n');

function isSame(text: string): boolean {
  try {
    return replayTrace(text).same;
  } catch (error) {
    if (!isMisuseError(error)) throw error;
    return false;
  }
}

/** The trace with one value changed, taken away or added, for every value in it. */
function editsOf(lines: readonly JsonValue[]): { readonly what: string; readonly text: string }[] {
  const edits: { what: string; text: string }[] = [];
  const visit = (
    value: JsonValue,
    put: (edited: JsonValue | undefined) => JsonValue,
    at: string,
  ): void => {
    const edit = (what: string, edited: JsonValue | undefined): void =>
      void edits.push({ what: `${at}: ${what}`, text: written(put(edited) as JsonValue[]) });
    edit(
      'another',
      typeof value === 'string'
        ? `${value}x`
        : typeof value === 'number'
          ? value + 1
          : typeof value === 'boolean'
            ? !value
            : 'other',
    );
    edit('null', value === null ? 0 : null);
    if (at.includes('/')) edit('gone', undefined);
    if (Array.isArray(value)) {
      edit('one more', [...value, value[0] ?? 'more']);
      for (const [index, item] of value.entries())
        visit(
          item,
          (edited) =>
            put(edited === undefined ? value.toSpliced(index, 1) : value.with(index, edited)),
          `${at}/${index}`,
        );
    } else if (typeof value === 'object' && value !== null) {
      edit('one more', { ...value, more: 1 });
      for (const [key, item] of Object.entries(value))
        visit(
          item,
          (edited) =>
            put(
              Object.fromEntries(
                Object.entries(value).flatMap(([k, v]) =>
                  k !== key ? [[k, v]] : edited === undefined ? [] : [[k, edited]],
                ),
              ),
            ),
          `${at}/${key}`,
        );
    }
  };
  for (const [index, line] of lines.entries())
    visit(
      line,
      (edited) => lines.with(index, edited as JsonValue) as JsonValue,
      `line ${index + 1}`,
    );
  return edits;
}

/** How many characters are hashed while something is done. */
function hashed(work: () => void): number {
  let characters = 0;
  const { prototype } = Hash;
  const { update } = prototype;
  prototype.update = function (this: Hash, data: string) {
    characters += data.length;
    return update.call(this, data, 'utf8');
  } as typeof update;
  try {
    work();
  } finally {
    prototype.update = update;
  }
  return characters;
}

describe('what a trace costs', () => {
  const batchOf = (count: number, name: string): WorkflowEvent[] => {
    const ids = Array.from({ length: count }, (_, index) => `call-${index + 10_000}`);
    return [
      { type: 'run_requested' },
      observe(...ids.map((id) => [id, name] as const)),
      ...ids.map((id) => settle(id)),
    ];
  };

  test.each(['read', 'exec'])(
    'a batch of ten times the calls of `%s` has ten times as much hashed, not a hundred times',
    (name) => {
      const cost = (count: number): number =>
        hashed(() => writeTrace(workflow(), batchOf(count, name)));
      expect(cost(600) / cost(60)).toBeLessThan(11);
    },
  );

  test('an inventory is hashed once, however many events leave it as it is', () => {
    const tools = Array.from({ length: 1_000 }, (_, index) => ({
      name: `tool_${index}`,
      description: 'Does a thing. '.repeat(20),
    }));
    const state = createWorkflow({
      tools,
      profiles: { all: tools.map(({ name }) => name) },
      profile: 'all',
    });
    const events = (count: number): WorkflowEvent[] => [
      { type: 'run_requested' },
      ...Array.from(
        { length: count },
        (_, index): WorkflowEvent => ({ type: 'facts_updated', facts: { index } }),
      ),
    ];
    const few = hashed(() => writeTrace(state, events(1)));
    const many = hashed(() => writeTrace(state, events(301)));
    expect((many - few) / 300).toBeLessThan(2_000);
    expect(few).toBeGreaterThan(serializeState(state).length);
  });
});

describe('writeTrace', () => {
  test(
    'one line for the workflow, one for each event: what was asked for, what was refused, the ' +
      'hash of the state',
    () => {
      const written = lines().map((line) => JSON.parse(line));
      expect(written[0]).toMatchObject({ trace: 2, workflow: { version: 1, profile: 'all' } });
      expect(written[1]).toMatchObject({
        event: { type: 'run_requested' },
        commands: [{ type: 'llm_generate', toolNames: ['read', 'grep', 'write', 'edit', 'exec'] }],
      });
      expect(written[3]).toMatchObject({
        event: { type: 'run_completed' },
        commands: [],
        error: 'batch_already_active',
        state: expect.stringMatching(/^sha256:/),
      });
      const hash = expect.stringMatching(/^sha256:/);
      expect(written[5].commands[0]).toEqual({
        type: 'batch_settled',
        batchId: 'batch-1',
        results: [
          { callId: 'a', outcome: 'succeeded', hash },
          { callId: 'b', outcome: 'succeeded', hash },
          { callId: 'c', outcome: 'tool_not_found', hash },
        ],
      });
    },
  );

  test('an event that is not JSON cannot be written', () => {
    expect(() =>
      writeTrace(workflow(), [{ type: 'facts_updated', facts: { n: 1n } } as never]),
    ).toThrow('expected event 1 to be JSON');
  });
});

describe('the end of a trace', () => {
  test('is marked, so that one that was cut off is not taken for a shorter run', () => {
    const all = lines();
    expect(JSON.parse(all.at(-1) as string)).toEqual({
      end: { events: 6, state: expect.stringMatching(/^sha256:/) },
    });
    expect(replayTrace(all.slice(0, -1).join('\n'))).toMatchObject({
      same: false,
      line: all.length,
      at: '/end',
      found: 'nothing',
    });
    expect(replayTrace([...all.slice(0, -2), all.at(-1)].join('\n'))).toMatchObject({
      same: false,
      at: '/end/events',
      expected: '6',
      found: '5',
    });
    expect(replayTrace([...all, all[1]].join('\n'))).toMatchObject({
      same: false,
      line: all.length + 1,
      expected: 'nothing',
    });
  });

  test('may be missing if every line has only an event, as in a log by hand', () => {
    const [first] = lines();
    for (const written of [(event: object) => event, (event: object) => ({ event })])
      expect(
        replayTrace([first, ...events.map((event) => JSON.stringify(written(event)))].join('\n')),
      ).toEqual(replayTrace(writeTrace(workflow(), events)));
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
    [
      'a refusal that was none',
      4,
      (value: { error?: string }) => delete value.error,
      { at: '/error', expected: 'nothing', found: '"batch_already_active"' },
    ],
    [
      'another state',
      7,
      (value: { state: string }) => Object.assign(value, { state: 'sha256:0' }),
      { at: '/state', expected: '"sha256:0"' },
    ],
    [
      'an event that was changed afterwards',
      5,
      (value: { event: { callId: string } }) => Object.assign(value.event, { callId: 'other' }),
      { at: '/commands/0', found: 'nothing' },
    ],
  ])('%s is the first difference', (_, line, edit, difference) => {
    expect(replayTrace(edited(line, edit as never))).toMatchObject({
      same: false,
      line,
      ...difference,
    });
  });

  test.each([
    ['an empty file', '', 'empty'],
    ['a line that is not JSON', `${lines()[0]}\n{`, 'Line 2: expected a JSON object'],
    [
      'a line that is no object',
      `${lines()[0]}\n[1]`,
      'Line 2: expected a JSON object, got an array of 1',
    ],
    ['a file that begins with an event', lines()[1] as string, 'Line 1: expected { "trace": 2'],
    ['another version', '{"trace":3,"workflow":{}}', '`trace`'],
    [
      'version 1, with what to do',
      '{"trace":1,"workflow":{}}',
      'version 1, which could not detect an edited result. Write it again',
    ],
    [
      'a first line with a field that it does not have',
      `{"trace":2,"workflows":{}}`,
      'unknown field `workflows`; did you mean `workflow`?',
    ],
    ['a line that is no event', `${lines()[0]}\n{"evnt":{}}`, 'Line 2: expected an event'],
    [
      'a workflow that is none',
      '{"trace":2,"workflow":{"version":1}}',
      'Line 1: `workflow` is not a workflow',
    ],
    [
      'a workflow that cannot be computed with',
      '{"trace":2,"workflow":{"version":1,"tools":[null],"profiles":{},"facts":{}}}\n{"type":"run_requested"}',
      'Line 1: `workflow` is not a workflow',
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

  test('any one value of a trace that is changed, taken away or added is noticed', () => {
    const { state } = replay(workflow(), events.slice(0, 4));
    const traces = [
      writeTrace(workflow(), everything),
      writeTrace(state, [settle('b'), { type: 'run_completed' }]),
    ].map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonValue),
    );
    for (const trace of traces) expect(replayTrace(written(trace))).toMatchObject({ same: true });
    const edits = traces.flatMap((trace) => editsOf(trace));
    expect(edits.length).toBeGreaterThan(1_000);
    expect(edits.filter(({ text }) => isSame(text)).map(({ what }) => what)).toEqual([]);
  });

  test('a line that is left out, doubled or moved is noticed', () => {
    const all = writeTrace(workflow(), everything).trimEnd().split('\n');
    for (let at = 1; at < all.length - 1; at++) {
      expect(isSame(all.toSpliced(at, 1).join('\n'))).toBe(false);
      expect(isSame(all.toSpliced(at, 0, all[at] as string).join('\n'))).toBe(false);
      expect(
        isSame(all.toSpliced(at, 2, all[at + 1] as string, all[at] as string).join('\n')),
      ).toBe(false);
    }
  });

  test('a trace of version 1 can be written anew, and is a trace like any other then', () => {
    const [first, ...rest] = writeTrace(workflow(), events)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const old = { ...first, trace: 1 };
    expect(
      writeTrace(
        old.workflow,
        rest.flatMap(({ event }) => event ?? []),
      ),
    ).toBe(writeTrace(workflow(), events));
  });

  test('no text makes it throw anything but that', () => {
    const header = lines()[0] as string;
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 4 }),
        fc.boolean(),
        (given, whole) => {
          try {
            replayTrace([...(whole ? [header] : []), ...given].join('\n'));
          } catch (error) {
            expect(isMisuseError(error)).toBe(true);
          }
        },
      ),
    );
  });

  test('its hash is that of the bytes of the state', () => {
    const { state } = replay(workflow(), events);
    const report = replayTrace(writeTrace(workflow(), events));
    expect(report).toEqual(replayTrace(writeTrace(JSON.parse(serializeState(workflow())), events)));
    expect(serializeState(state)).not.toContain('undefined');
  });
});
