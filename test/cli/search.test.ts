/** Finds tools on the command line. */
import { describe, expect, test } from 'vitest';
import { cli, gated, tools } from './cli-run.ts';

describe('search', () => {
  test('prints the score, the tool, whether it asks, and the words that matched', async () => {
    const { exit, stdout, stderr } = await cli(['search', 'push a branch', ...gated]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const [head, best] = stdout.split('\n');
    expect(head).toMatch(/^score +tool +asks +why +what it does$/);
    expect(best).toMatch(/^1\.00 +push +\S+ +push, branch +/);
  });

  test('--json has what session.search answers', async () => {
    const { stdout } = await cli(['search', 'push', ...tools, '--json', '--top', '1']);
    expect(JSON.parse(stdout)).toEqual({
      tools: [
        {
          name: 'push',
          description: expect.any(String),
          score: 1,
          requiresApproval: expect.any(Boolean),
          why: ['push'],
        },
      ],
    });
  });

  test('nothing found is exit code 1', async () => {
    const { exit, stdout } = await cli(['search', 'xyzzyxyzzy', ...tools]);
    expect({ exit, stdout }).toEqual({
      exit: 1,
      stdout: 'Nothing is found. Describe the task in other words.\n',
    });
  });

  test.each([
    ['an empty query', [''], 'Describe the task in a few words'],
    ['a huge query', ['x'.repeat(5_000)], 'got 5000 characters. Describe the task in a few words'],
    ['no query', [], 'QUERY'],
    ['a wrong limit', ['push', '--top', '0'], 'a whole number from 1 to 100, got `0`'],
  ])('%s is a usage error', async (_, words, message) => {
    const { exit, stderr } = await cli(['search', ...words, ...tools]);
    expect(exit).toBe(2);
    expect(stderr).toContain(message);
  });
});
