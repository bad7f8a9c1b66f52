import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { exampleScript } from '../../runner/scripts.ts';

test('the example asks, is answered for each call, and is not let through', {
  timeout: 60_000,
}, async () => {
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const program = await exampleScript('examples/openai-loop.ts');
  const { code, stdout, stderr } = await new Promise<{
    code: unknown;
    stdout: string;
    stderr: string;
  }>((resolve) => {
    execFile(process.execPath, [program], { cwd, timeout: 50_000 }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, stdout: out, stderr: err }),
    );
  });
  expect(stderr).toBe('');
  expect(code, stdout).toBe(0);
  expect(stdout.trimEnd().split('\n')).toEqual([
    'user      What is the plan? Delete it then.',
    'tool      Paint the fence.',
    'tool      Error: There is no note shopping.',
    expect.stringMatching(
      /^tool {6}Error: The call was denied by rule `keep-notes`: notes_are_kept\./,
    ),
    expect.stringMatching(/^tool {6}Error: There is no tool `notes_write`/),
    'assistant The plan is to paint the fence; I may not delete it.',
  ]);
});
