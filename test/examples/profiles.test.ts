import { expect, test } from 'vitest';
import { exampleProfiles, exampleTools } from '../../examples/profiles.ts';
import { HostToolRegistry } from '../../src/index.ts';
import { outcome, tempRepository } from './fixtures.ts';

async function sessions() {
  const registry = new HostToolRegistry();
  registry.registerAll(exampleTools);
  for (const profile of exampleProfiles('http://127.0.0.1:9')) registry.defineProfile(profile);
  const cwd = await tempRepository();
  return (profile: string) => registry.createSession({ sessionId: profile, profile, cwd });
}

test('each profile shows its own tools, in its own order', async () => {
  const session = await sessions();
  expect(session('reviewer').effectiveTools().names).toEqual([
    'git',
    'read_file',
    'search_files',
    'fetch_status',
  ]);
  expect(session('fixer').effectiveTools().names).toEqual([
    'git',
    'read_file',
    'search_files',
    'write_file',
    'fetch_status',
  ]);
  expect(session('release').effectiveTools().names).toEqual(['git', 'read_file']);
});

test('one call comes out differently under each profile', async () => {
  const session = await sessions();
  const call = { action: 'branch_create', branch: 'fix/x' };
  expect(outcome(await session('reviewer').call('git', call))).toBe(
    'policy_denied action_not_allowed',
  );
  expect(outcome(await session('release').call('git', call))).toBe(
    'policy_denied branch_prefix_required',
  );
  expect(outcome(await session('fixer').call('git', call))).toBe('ok');
});

test('without a person to ask, calls that need one are refused', async () => {
  const session = await sessions();
  const release = session('release');
  await release.call('git', { action: 'branch_create', branch: 'release/x' });
  const pushed = await release.call('git', { action: 'push', branch: 'release/x' });
  expect(pushed.error?.code).toBe('approval_denied');
});

test('a protected file is the rule’s to refuse, wherever it lies', async () => {
  const fixer = (await sessions())('fixer');
  for (const path of [
    'package.json',
    './package.json',
    'sub/package-lock.json',
    'package.json/',
    'package.json/.',
    './/Package.JSON',
  ]) {
    const result = await fixer.call('write_file', { path, content: '{}' });
    expect(result.error).toMatchObject({
      code: 'policy_denied',
      reason: 'manifest_protected',
      ruleId: 'manifests-are-for-people',
    });
  }
});
