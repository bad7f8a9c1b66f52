import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWorkspace } from '../../examples/demo/workspace.ts';
import { git, tempFolder, tempRepository } from './fixtures.ts';

describe('the demo works on a copy', () => {
  const sources: readonly (readonly [
    what: string,
    make: () => Promise<string>,
    readsSource: boolean,
  ])[] = [
    ['a repository', tempRepository, true],
    [
      'a shallow clone',
      async () => {
        const [whole, folder] = [await tempRepository(), await tempFolder()];
        await git(whole, 'commit', '--quiet', '--allow-empty', '--message=second');
        await git(folder, 'init', '--quiet', '--initial-branch=main');
        await git(folder, 'fetch', '--quiet', '--depth=1', `file://${whole}`, 'main');
        await git(folder, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
        return folder;
      },
      true,
    ],
    [
      'a checkout of a commit, on no branch',
      async () => {
        const root = await tempRepository();
        await git(root, 'switch', '--quiet', '--detach');
        return root;
      },
      true,
    ],
    [
      'a repository without a commit',
      async () => {
        const root = await tempFolder();
        await git(root, 'init', '--quiet', '--initial-branch=main');
        await writeFile(join(root, 'readme.txt'), 'first\n');
        return root;
      },
      false,
    ],
    [
      'a folder that is no repository',
      async () => {
        const root = await tempFolder();
        await writeFile(join(root, 'readme.txt'), 'first\n');
        return root;
      },
      false,
    ],
  ];
  test.each(sources)(
    'of %s, with a clean work tree that can be pushed',
    async (_what, make, readsSource) => {
      const here = await make();
      const workspace = await createWorkspace(here);
      try {
        expect(workspace.source).toBe(readsSource ? here : workspace.copy);
        expect(await readFile(join(workspace.copy, 'readme.txt'), 'utf8')).toBe('first\n');
        expect(await git(workspace.copy, 'status', '--porcelain', '--branch')).toBe('## main');
        await git(workspace.copy, 'push', '--quiet', 'origin', 'main');
        expect(await workspace.pushed('main')).toBe(await git(workspace.copy, 'rev-parse', 'main'));
        expect(await workspace.pushed('other')).toBeUndefined();
      } finally {
        await workspace.remove();
      }
      expect(existsSync(workspace.copy)).toBe(false);
    },
  );
});
