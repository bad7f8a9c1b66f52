import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  createWorkflow,
  type WorkflowEvent,
  writeTrace,
} from '../../src/surfaces/workflow/index.ts';
import { cli } from './cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-trace-'));
afterAll(() => rmSync(folder, { recursive: true }));

const events: readonly WorkflowEvent[] = [
  { type: 'facts_updated', facts: { 'hostSession.status': 'ready' } },
  { type: 'run_requested' },
  { type: 'run_completed' },
];
const trace = writeTrace(
  createWorkflow({ tools: [{ name: 'read' }], profiles: { all: ['read'] }, profile: 'all' }),
  events,
);

function file(text: string): string {
  const path = join(folder, 'trace.jsonl');
  writeFileSync(path, text);
  return path;
}

describe('replay', () => {
  test('prints the hash of a trace that comes out the same, and needs no tools', async () => {
    const { exit, stdout, stderr } = await cli(['replay', file(trace)]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^sha256:[0-9a-f]{64}\n3 events, the same result.\n$/);
  });

  test('one event is one event', async () => {
    const one = writeTrace(createWorkflow({ tools: [{ name: 'read' }] }), events.slice(0, 1));
    expect((await cli(['replay', file(one)])).stdout).toMatch(/\n1 event, the same result\.\n$/);
  });

  test('prints the first difference, with exit code 1', async () => {
    const changed = trace.replace('"toolNames":["read"]', '"toolNames":["write"]');
    expect(changed).not.toBe(trace);
    const path = file(changed);
    const { exit, stdout } = await cli(['replay', path]);
    expect(exit).toBe(1);
    expect(stdout).toBe(
      `${path}:3: the replay differs at /commands/0/toolNames/0\n  recorded  "write"\n  ` +
        `replayed  "read"\n`,
    );
    expect(JSON.parse((await cli(['replay', path, '--json'])).stdout)).toEqual({
      same: false,
      line: 3,
      at: '/commands/0/toolNames/0',
      expected: '"write"',
      found: '"read"',
    });
  });

  test.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['half a line', trace.slice(0, 40)],
    ['another version', trace.replace('"trace":2', '"trace":3')],
  ])('a file with %s is exit code 1 and one line', async (_, text) => {
    const { exit, stdout, stderr } = await cli(['replay', file(text)]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^host-tools: Cannot replay `[^\n]+\n$/);
  });

  test('a file that is not there is exit code 1', async () => {
    expect(await cli(['replay', 'nowhere.jsonl'])).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: 'host-tools: Cannot read `nowhere.jsonl`: there is no such file.\n',
    });
  });
});
