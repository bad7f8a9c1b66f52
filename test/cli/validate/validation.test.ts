import { expect, test } from 'vitest';
import { cli } from '../cli-run.ts';

test('validate passes what keeps to the contract, with exit code 0', async () => {
  const { exit, stdout, stderr } = await cli(['validate', 'tools.ts']);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toMatch(/^passed tools\.ts /);
});

test('validate takes several files, and one that fails is exit code 1', async () => {
  const { exit, stdout } = await cli(['validate', 'tools.ts', 'nowhere.ts', '--json']);
  expect(exit).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    passed: false,
    files: [
      { file: 'tools.ts', passed: true },
      { file: 'nowhere.ts', passed: false },
    ],
  });
});
